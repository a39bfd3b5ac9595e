# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""One virtual machine: QEMU's command line, its process, what goes in and what comes out.

The guest stops the machine itself, at an instruction of its own choice (lab/init writes to the
pvpanic device). While it is stopped its state can be saved to a file, and a new machine restored
from that file goes on at the next instruction. The files of a run are in place before it goes on,
in memory of the machine, because a guest that waited for its host would depend on the
host's speed.
"""

import contextlib
import ctypes
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import time

from images import Trouble, say

FAILED = 125
# How much a run's own files may be: the size of the device that holds them.
FILES_MB = 128
# Room for memory devices beyond the guest's own memory.
DEVICES_MB = 64 << 10
PORTS = ('stdout', 'stderr', 'status', 'kmsg')

# Tests of ciphers would be a third of the boot.
# The guest needs no bounce buffers, which it would reserve because of its memory devices.
KERNEL_ARGUMENTS = ['console=ttyS0', 'panic=-1', 'oops=panic', 'mitigations=off', 'nowatchdog',
                    'cryptomgr.notests', 'swiotlb=noforce']
# Counted time: nothing the guest can see comes from outside or from chance.
COUNTED_ARGUMENTS = ['nokaslr', 'norandmaps', 'randomize_kstack_offset=off', 'loglevel=5']
WALL_CLOCK_ARGUMENTS = ['loglevel=7']
DEBUG_ARGUMENTS = ['slub_debug=FZPU', 'kfence.sample_interval=1']

# A guest that is past its own limit and did not say so is ended by these: processor seconds of
# QEMU for one second of a guest that never idles, and for a guest to boot or to power off.
PROCESSOR_PER_SECOND = 20
PROCESSOR_SLACK = 120
# A guest that halted with its interrupts off does nothing, for ever. Seconds of the host.
DEAD_AFTER = 300


# --- QEMU's command line --------------------------------------------------------------

def kernel_arguments(options):
    chosen = KERNEL_ARGUMENTS + (WALL_CLOCK_ARGUMENTS if options.wall_clock else COUNTED_ARGUMENTS)
    return ' '.join(chosen + (DEBUG_ARGUMENTS if options.debug_kernel else []) +
                    (['lab.root'] if options.root else []) + options.kernel_arg)


def accelerator(options):
    if options.kvm:
        return ['-accel', 'kvm', '-cpu', 'host']
    if options.wall_clock:
        return ['-accel', 'tcg,thread=multi', '-cpu', 'max']
    return ['-accel', 'tcg,thread=single', '-icount', 'shift=0,sleep=off',
            '-cpu', 'max,-rdrand,-rdseed,-erms,-fsrm', '-rtc', 'base=2026-01-01T00:00:00,clock=vm']


def port(number, chardev):
    return ['-device', f'virtserialport,chardev={chardev},nr={number}']


def hardware(options, cache, root):
    """What the guest can see. The same list is the same machine, for a saved state too."""
    # Newer machine types hand a random seed to the kernel.
    command = ['-machine', 'pc-i440fx-7.1,nvdimm=on', *accelerator(options),
               '-smp', str(options.cpus),
               '-m', f'{options.mem}M,slots=2,maxmem={options.mem + DEVICES_MB}M',
               '-kernel', cache.vmlinux,
               '-initrd', cache.base_for_root if root else cache.base,
               '-append', kernel_arguments(options), '-device', 'nvdimm,memdev=files',
               '-serial', 'chardev:console', '-device', 'pvpanic',
               '-device', 'virtio-serial-pci,ioeventfd=off,addr=2']
    for number, name in enumerate(PORTS + ('requests',), 1):
        command += port(number, name)
    if not options.command:
        command += ['-device', 'virtconsole,chardev=terminal,nr=0']
    if root:
        command += ['-object', f'memory-backend-file,id=root,size={os.path.getsize(root)},share=on,readonly=on,'
                               f'mem-path={root}',
                    '-device', 'nvdimm,memdev=root,unarmed=on']
    for gpu in range(options.gpus):
        command += ['-object', f'memory-backend-ram,id=vram{gpu},size={options.vram}M',
                    '-device', f'ivshmem-plain,memdev=vram{gpu},master=on,addr={8 + gpu}']
    return command


def surroundings(options, folder, requests, control):
    """Where the machine's ports lead, and how it is controlled."""
    command = ['qemu-system-x86_64', '-nodefaults', '-no-user-config', '-no-reboot',
               '-display', 'none', '-action', 'panic=pause',
               '-object', f'memory-backend-file,id=files,size={FILES_MB}M,share=on,'
                          f'mem-path={folder}/files',
               '-chardev', f'file,id=console,path={folder}/console',
               '-chardev', f'socket,id=requests,fd={requests}',
               '-chardev', f'socket,id=control,fd={control}', '-mon', 'control,mode=control']
    for name in PORTS:
        command += ['-chardev', f'file,id={name},path={folder}/{name}']
    if not options.command:
        command += ['-chardev', 'stdio,id=terminal,signal=off,mux=on']
    return command


# --- its process ----------------------------------------------------------------------

def die_with_parent():
    """No machine goes on when we are killed by a signal that we cannot see."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def take_core():
    """A core that no other counted machine has, if there is one, and a name that says it is taken."""
    cores = sorted(os.sched_getaffinity(0))
    for core in cores:
        name = socket.socket(socket.AF_UNIX)
        try:
            name.bind(f'\0gpreempt-lab-core-{core}')
            return core, name
        except OSError:
            name.close()
    return cores[os.getpid() % len(cores)], None


def stay_on(core):
    """
    QEMU's main thread advances the clock when the guest's processor halts. On another core it may do so
    before the instructions executed last are counted, and then they count twice. On the same core, and
    first there whenever it can run, it is done before the processor goes on.
    """
    os.sched_setaffinity(0, {core})
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))


class Machine:
    """A machine that boots, or goes on from the open file @state, with its files in @folder."""

    def __init__(self, options, cache, root, folder, state=None):
        self.options = options
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        self.put_files(b'')
        with contextlib.ExitStack() as passed:
            self.requests, requests = socket.socketpair()
            control_ours, control = socket.socketpair()
            passed.enter_context(requests)
            passed.enter_context(control)
            fds = [requests.fileno(), control.fileno()]
            command = surroundings(options, folder, *fds) + hardware(options, cache, root)
            self.start(command + (['-incoming', 'defer'] if state else []), fds)
        self.control = Control(control_ours, self)
        if state:
            with state:
                self.control.restore(state)

    def start(self, command, fds):
        counted = not self.options.wall_clock
        core, self.core_name = take_core() if counted else (None, None)

        def prepare():
            die_with_parent()
            if core is not None:
                stay_on(core)

        self.shown = {}
        for name, where in (('stdout', sys.stdout), ('stderr', sys.stderr)):
            self.shown[open(f'{self.folder}/{name}', 'w+b', buffering=0)] = where.fileno()
        terminal = not self.options.command
        with open(f'{self.folder}/qemu', 'wb') as log:
            self.qemu = subprocess.Popen(
                command, pass_fds=fds, stderr=log,
                stdin=None if terminal else subprocess.DEVNULL,
                stdout=None if terminal else subprocess.DEVNULL,
                # Ctrl-C is for us: we stop it.
                start_new_session=not terminal, preexec_fn=prepare)
        if counted and not os.sched_getscheduler(self.qemu.pid) & os.SCHED_FIFO:
            say('no right to real-time priority: two runs may differ by a few percent; run it as root')

    def put_files(self, content):
        """What the guest finds in the device of its files when it goes on."""
        if len(content) > FILES_MB << 20:
            raise Trouble(2, f'the files of this run are larger than {FILES_MB} MB; --copy less')
        with open(f'{self.folder}/files', 'r+b' if self.has('files') else 'wb') as f:
            f.write(content)
            f.truncate(FILES_MB << 20)

    def go_on(self, files):
        """Let the guest have @files and go on from where it stopped the machine."""
        self.control.wait_until_stopped()
        self.put_files(files)
        self.control.go_on()

    # --- what the guest said -------------------------------------------------------------

    def has(self, name):
        return os.path.exists(f'{self.folder}/{name}')

    def text(self, name):
        try:
            with open(f'{self.folder}/{name}', encoding='utf-8', errors='replace') as f:
                return f.read().replace('\r\n', '\n')
        except FileNotFoundError:
            return ''

    def status(self, word):
        """What the guest said after @word: init tells how far it is; None if it did not."""
        match = re.search(rf'^{word}\b *(.*)$', self.text('status'), re.M)
        return match and match[1]

    def last_words(self):
        """What QEMU itself had to say."""
        lines = self.text('qemu').strip().splitlines()
        return lines[-1] if lines else 'it said nothing'

    def kernel_log(self):
        """The guest's dmesg; if it could not give it, what the console saw."""
        return self.text('kmsg') or self.text('console')

    def show(self):
        """Pass on what the command has written since the last time."""
        for source, target in self.shown.items():
            while chunk := source.read(1 << 20):
                while chunk:
                    chunk = chunk[os.write(target, chunk):]

    # --- how long it may take ------------------------------------------------------------

    def processor_seconds(self):
        """What QEMU has used; None if it is gone."""
        try:
            with open(f'/proc/{self.qemu.pid}/stat', encoding='utf-8') as f:
                fields = f.read().rpartition(')')[2].split()
        except OSError:
            return None
        return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')

    def wait(self, seconds):
        """
        Until the guest is off. False: it does not keep its own limit of @seconds of guest time. What it
        may use beyond that is counted in time of the processor, which other load on the host does not change.
        """
        limit = seconds * PROCESSOR_PER_SECOND * self.options.cpus + PROCESSOR_SLACK
        used, moved = 0, time.monotonic()
        while self.qemu.poll() is None:
            self.show()
            now = self.processor_seconds() or used
            if now != used:
                used, moved = now, time.monotonic()
            if self.options.command and (used > limit or time.monotonic() > moved + DEAD_AFTER):
                self.ask_what_hangs()
                return False
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.qemu.wait(0.02)
        self.show()
        return True

    def ask_what_hangs(self):
        """Have the guest write its log, and the stacks of waiting tasks, if it still can."""
        self.requests.sendall(b'show\n')
        for _ in range(200):
            if self.status('shown') is not None or self.qemu.poll() is not None:
                break
            time.sleep(0.05)
        self.show()

    def close(self):
        if self.qemu.poll() is None:
            self.qemu.kill()
            self.qemu.wait()
        for source in self.shown:
            source.close()
        self.requests.close()
        self.control.close()
        if self.core_name:
            self.core_name.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Gone(Exception):
    """QEMU ended, or its guest does not come to the end of its boot."""


class Control:
    """QEMU's own socket: to know that the machine stopped, to save it, and to let it go on."""

    def __init__(self, connection, machine):
        self.connection = connection
        self.machine = machine
        self.buffer = b''
        self.events = []
        self.greeted = False

    def close(self):
        self.connection.close()

    def read(self):
        """The next message."""
        while b'\n' not in self.buffer:
            ready, _, _ = select.select([self.connection], [], [], 1)
            if not ready and (self.machine.processor_seconds() or 0) > PROCESSOR_SLACK:
                raise Gone
            if ready:
                try:
                    chunk = self.connection.recv(1 << 16)
                except ConnectionResetError:
                    chunk = b''
                if not chunk:
                    raise Gone
                self.buffer += chunk
        line, _, self.buffer = self.buffer.partition(b'\n')
        return json.loads(line)

    def greet(self):
        self.greeted = True
        self.read()
        self.ask('qmp_capabilities')
        # What is in shared files, the run's own and the image of --root, is not saved with the machine.
        self.ask('migrate-set-capabilities', capabilities=[
            {'capability': name, 'state': True} for name in ('events', 'x-ignore-shared')])

    def ask(self, command, fds=(), **arguments):
        """The answer to @command. Events that come before it are kept."""
        if not self.greeted:
            self.greet()
        text = json.dumps({'execute': command, 'arguments': arguments}).encode()
        try:
            socket.send_fds(self.connection, [text], fds)
        except OSError as error:
            raise Gone from error
        while True:
            answer = self.read()
            if 'error' in answer:
                raise Trouble(FAILED, f"QEMU: {command}: {answer['error']['desc']}")
            if 'return' in answer:
                return answer['return']
            self.events.append(answer)

    def wait_until_stopped(self):
        """Until the guest has stopped the machine, or a restored machine is complete."""
        while self.ask('query-status')['status'] != 'guest-panicked':
            if not self.events:
                self.events.append(self.read())
            self.events.clear()

    def go_on(self):
        self.ask('cont')

    def restore(self, state):
        """Begin to restore the machine from the open file @state."""
        self.ask('getfd', [state.fileno()], fdname='state')
        self.ask('migrate-incoming', uri='fd:state')

    def save(self, path):
        """Save the stopped machine to the file @path."""
        self.ask('migrate-set-parameters', **{'max-bandwidth': 1 << 40})
        with open(path, 'wb') as out:
            self.ask('getfd', [out.fileno()], fdname='state')
        self.ask('migrate', uri='fd:state')
        while (state := self.ask('query-migrate'))['status'] not in ('completed', 'failed'):
            self.events.append(self.read())
        if state['status'] == 'failed':
            raise Trouble(FAILED, f"QEMU cannot save the machine: {state.get('error-desc', 'no reason given')}")


# --- how it ended ---------------------------------------------------------------------

# Lines of the kernel log after which nothing that the run showed can be trusted.
BAD = (r'WARNING:|BUG:|\bOops\b|Kernel panic|UBSAN|refcount_t:|list_(add|del) corruption'
       r'|INFO: task .* blocked|general protection|unable to handle|stack-protector')
BAD_LINE = re.compile(rf'^.*({BAD}).*$', re.M)

# The end of a log is shown from here on.
WORTH_SEEING = re.compile(BAD + '|sysrq: Show Blocked State')


def judge(machine, in_time):
    """(exit code, what went wrong or None) of a machine that is off, or is given up."""
    console, log = machine.text('console'), machine.kernel_log()
    complaint = BAD_LINE.search(log) or BAD_LINE.search(console)
    code, failure = machine.status('exit'), machine.status('fail')
    if failure:
        return FAILED, failure
    if machine.status('late') is not None:
        return FAILED, f'the time is up: no end after {machine.options.timeout} s of the guest'
    if not in_time:
        return FAILED, 'the guest hangs: it does not even keep its own limit of time'
    if code is None and machine.qemu.poll():
        return FAILED, f'QEMU failed: {machine.last_words()}'
    if code is None:
        return FAILED, 'the guest crashed' if complaint else 'the guest went off on its own'
    if complaint and not machine.options.allow_warn:
        return FAILED, f'the kernel complained: {complaint[0].strip()}'
    return int(code), None


def show_tail(log):
    """The last lines of the kernel log; or from what matters on, and its end if that matters too."""
    lines = log.splitlines()
    first = next((i for i, line in enumerate(lines) if WORTH_SEEING.search(line)), len(lines))
    lines = lines[max(0, min(first - 5, len(lines) - 20)):]
    shown, rest = lines[:60], lines[60:]
    if any(map(WORTH_SEEING.search, rest)):
        shown += ['...'] + rest[-60:]
    for line in shown:
        print('  ' + line, file=sys.stderr)


def conclude(machine, in_time):
    """The run's exit code, its log where it was asked for, and what went wrong."""
    code, wrong = judge(machine, in_time)
    log = machine.kernel_log()
    if machine.options.log:
        with open(machine.options.log, 'w', encoding='utf-8') as f:
            f.write(log)
    if wrong:
        show_tail(log)
        say(wrong)
    return code
