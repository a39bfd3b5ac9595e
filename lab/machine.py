# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""One virtual machine: QEMU's command line, its process, its input and its output.

The guest stops the machine itself, at an instruction of its own choice (lab/init writes to the
pvpanic device). While it is stopped its state can be saved to a file, and a new machine restored
from that file continues at the next instruction. The files of a run are in memory of the machine
before it continues, because a guest that waited for its host would depend on the host's speed.
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

from images import QEMU, Trouble, say

FAILED = 125
# The size of the device that holds a run's files.
FILES_MB = 128
# Room for memory devices beyond the guest's own memory.
DEVICES_MB = 64 << 10
PORTS = ('stdout', 'stderr', 'status', 'kmsg')

# cryptomgr.notests saves a third of the boot. swiotlb=noforce: because of its memory devices the kernel
# would reserve bounce buffers that nothing needs.
KERNEL_ARGUMENTS = ['console=ttyS0', 'panic=-1', 'oops=panic', 'mitigations=off', 'nowatchdog',
                    'cryptomgr.notests', 'swiotlb=noforce']
# Counted time: the guest sees nothing random and nothing of the host.
COUNTED_ARGUMENTS = ['nokaslr', 'norandmaps', 'randomize_kstack_offset=off', 'loglevel=5']
WALL_CLOCK_ARGUMENTS = ['loglevel=7']
DEBUG_ARGUMENTS = ['slub_debug=FZPU', 'kfence.sample_interval=1']

# Limits for a guest that does not keep its own limit: processor seconds of QEMU per second of a busy
# guest, and for booting and powering off.
PROCESSOR_PER_SECOND = 20
PROCESSOR_SLACK = 120
# With KVM a guest boots in a few seconds. On some hosts it never begins, and its processor is busy all the same.
PROCESSOR_SLACK_KVM = 20
# Seconds after which a guest that uses no processor time counts as dead (it halted with interrupts off).
DEAD_AFTER = 300
# Seconds of the host that a guest with the host's clock may take to boot.
BOOT_SECONDS = 900


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


def guest_options(options, cache, root):
    """Options for what the guest sees. A saved state fits only the options it was made with."""
    # Newer machine types hand a random seed to the kernel.
    command = ['-machine', 'pc-i440fx-7.1,nvdimm=on', *accelerator(options),
               '-smp', str(options.cpus),
               '-m', f'{options.mem}M,slots=2,maxmem={options.mem + DEVICES_MB}M',
               '-kernel', cache.vmlinux,
               '-initrd', cache.initrd(root),
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


def host_options(options, folder, terminal, requests, control):
    """Options for the machine's ports, its files and its control socket."""
    command = [QEMU, '-nodefaults', '-no-user-config', '-no-reboot',
               '-display', 'none', '-action', 'panic=pause',
               '-object', f'memory-backend-file,id=files,size={FILES_MB}M,share=on,'
                          f'mem-path={folder}/files',
               '-chardev', f'file,id=console,path={folder}/console',
               '-chardev', f'socket,id=requests,fd={requests}',
               '-chardev', f'socket,id=control,fd={control}', '-mon', 'control,mode=control']
    for name in PORTS:
        command += ['-chardev', f'file,id={name},path={folder}/{name}']
    if not options.command:
        command += ['-chardev', 'stdio,id=terminal,signal=off,mux=on' if terminal else 'null,id=terminal']
    return command


# --- its process ----------------------------------------------------------------------

def die_with_parent(parent):
    """Kill QEMU when lab/run dies, even by SIGKILL."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)             # it died before the call


def reserve_core():
    """A core that no other counted machine uses, if any, and the socket whose name reserves it."""
    cores = sorted(os.sched_getaffinity(0))
    for core in cores:
        name = socket.socket(socket.AF_UNIX)
        try:
            name.bind(f'\0gpreempt-lab-core-{core}')
            return core, name
        except OSError:
            name.close()
    return cores[os.getpid() % len(cores)], None


def pin_to(core):
    """
    Run QEMU's main thread on @core with real-time priority. It advances the clock when the guest's processor
    halts. On another core it may do so before the last executed instructions are counted, and they then count
    twice. On the same core and with priority it is done before the processor continues.
    """
    os.sched_setaffinity(0, {core})
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))


class Machine:
    """
    A machine that boots, or is restored from the open file @state, with its files in @folder. A run for a shell
    has the @terminal.
    """

    def __init__(self, options, cache, root, folder, state=None, terminal=False):
        self.options = options
        self.folder = folder
        self.state = state
        self.resumed = False
        self.started = self.moved = time.monotonic()
        self.used = 0
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        self.put_files(b'')
        with contextlib.ExitStack() as passed:
            self.requests, requests = socket.socketpair()
            control_ours, control = socket.socketpair()
            passed.enter_context(requests)
            passed.enter_context(control)
            fds = [requests.fileno(), control.fileno()]
            command = (host_options(options, folder, terminal, *fds) +
                       guest_options(options, cache, root))
            self.start(command + (['-incoming', 'defer'] if state else []), fds, terminal)
        self.control = Control(control_ours, self)

    def start(self, command, fds, terminal):
        counted = not self.options.wall_clock
        core, self.core_lock = reserve_core() if counted else (None, None)
        parent = os.getpid()

        def prepare():
            die_with_parent(parent)
            if core is not None:
                pin_to(core)

        self.streams = {}
        for name, where in (('stdout', sys.stdout), ('stderr', sys.stderr)):
            self.streams[open(f'{self.folder}/{name}', 'w+b', buffering=0)] = where.fileno()
        with open(f'{self.folder}/qemu', 'wb') as log:
            self.qemu = subprocess.Popen(
                command, pass_fds=fds, stderr=log,
                stdin=None if terminal else subprocess.DEVNULL,
                stdout=None if terminal else subprocess.DEVNULL,
                # Ctrl-C goes to lab/run, which stops QEMU.
                start_new_session=not terminal, preexec_fn=prepare)
        if counted and not os.sched_getscheduler(self.qemu.pid) & os.SCHED_FIFO:
            say('cannot set real-time priority, so two runs may differ by a few percent; run as root')

    def put_files(self, content):
        """Write the files that the guest finds in its device when it continues."""
        if len(content) > FILES_MB << 20:
            raise Trouble(2, f'the files of this run are larger than {FILES_MB} MB; --copy less')
        with open(f'{self.folder}/files', 'r+b' if self.has('files') else 'wb') as f:
            f.write(content)
            f.truncate(FILES_MB << 20)

    def resume(self, files):
        """Give the guest @files and let it continue from where it stopped the machine."""
        if self.state:
            with self.state as state:
                self.control.restore(state)
            self.state = None
        self.control.wait_until_stopped()
        self.put_files(files)
        self.control.resume()
        self.resumed = True

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
        """The rest of the progress line that begins with @word; None if init has not written it."""
        match = re.search(rf'^{word}\b *(.*)$', self.text('status'), re.M)
        return match and match[1]

    def last_error(self):
        """The last message of QEMU itself."""
        lines = self.text('qemu').strip().splitlines()
        return lines[-1] if lines else 'it said nothing'

    def kernel_log(self):
        """The guest's kernel log, or the console's output if the guest could not send it."""
        return self.text('kmsg') or self.text('console')

    def show(self):
        """Pass on the output of the command since the last call."""
        for source, target in self.streams.items():
            while chunk := source.read(1 << 20):
                while chunk:
                    chunk = chunk[os.write(target, chunk):]

    # --- how long it may take ------------------------------------------------------------

    def processor_seconds(self):
        """Processor time of QEMU; None if it has exited."""
        try:
            with open(f'/proc/{self.qemu.pid}/stat', encoding='utf-8') as f:
                fields = f.read().rpartition(')')[2].split()
        except OSError:
            return None
        return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')

    def exceeds(self, limit):
        """True if QEMU used more than @limit processor seconds, or none for so long that its guest is dead."""
        used, now = self.processor_seconds() or self.used, time.monotonic()
        if used != self.used:
            self.used, self.moved = used, now
        return used > limit or now > self.moved + DEAD_AFTER

    def boots_for_too_long(self):
        # A guest whose clock is the host's uses hardly any processor while it waits for something.
        return (self.exceeds(PROCESSOR_SLACK_KVM if self.options.kvm else PROCESSOR_SLACK) or
                (self.options.wall_clock and time.monotonic() > self.started + BOOT_SECONDS))

    def wait(self, seconds):
        """
        Waits until the guest is off. Returns False if the guest did not keep its limit of @seconds. That is
        judged by QEMU's processor time, which other load does not change.
        """
        limit = seconds * PROCESSOR_PER_SECOND * self.options.cpus + PROCESSOR_SLACK
        while self.qemu.poll() is None:
            self.show()
            if self.options.command and self.exceeds(limit):
                self.request_stacks()
                return False
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.qemu.wait(0.02)
        self.show()
        return True

    def request_stacks(self):
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
        for source in self.streams:
            source.close()
        self.requests.close()
        self.control.close()
        if self.core_lock:
            self.core_lock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class MachineFailed(Exception):
    """QEMU exited, or its guest used too much processor time before it stopped."""


class CannotSave(Exception):
    """A machine cannot be saved, or the place for saved machines cannot be used."""


class Control:
    """QEMU's control socket, which reports that the machine stopped, and saves and resumes it."""

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
            if not ready and self.machine.boots_for_too_long():
                raise MachineFailed
            if ready:
                try:
                    chunk = self.connection.recv(1 << 16)
                except ConnectionResetError:
                    chunk = b''
                if not chunk:
                    raise MachineFailed
                self.buffer += chunk
        line, _, self.buffer = self.buffer.partition(b'\n')
        return json.loads(line)

    def greet(self):
        self.greeted = True
        self.read()
        self.ask('qmp_capabilities')
        # The files in shared memory (the run's own and the image of --root) are not saved with the machine.
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
            raise MachineFailed from error
        while True:
            answer = self.read()
            if 'error' in answer:
                raise Trouble(FAILED, f"QEMU: {command}: {answer['error']['desc']}")
            if 'return' in answer:
                return answer['return']
            self.events.append(answer)

    def wait_until_stopped(self):
        """Wait until the guest has stopped the machine, or a restored machine is complete."""
        while self.ask('query-status')['status'] != 'guest-panicked':
            if not self.events:
                self.events.append(self.read())
            self.events.clear()

    def resume(self):
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
            raise CannotSave(f"QEMU cannot save the machine to {path}: "
                             f"{state.get('error-desc', 'no reason given')}")


# --- how it ended ---------------------------------------------------------------------

# Lines of the kernel log after which nothing that the run showed can be trusted.
BAD = (r'WARNING:|BUG:|\bOops\b|Kernel panic|UBSAN|refcount_t:|list_(add|del) corruption'
       r'|INFO: task .* blocked|general protection|unable to handle|stack-protector')
BAD_LINE = re.compile(rf'^.*({BAD}).*$', re.M)

# The end of a log is shown from here on.
WORTH_SEEING = re.compile(BAD + '|sysrq: Show Blocked State')


def judge(machine, in_time):
    """(exit code, error or None) of a machine that is off or was given up."""
    console, log = machine.text('console'), machine.kernel_log()
    complaint = BAD_LINE.search(log) or BAD_LINE.search(console)
    code, failure = machine.status('exit'), machine.status('fail')
    if failure:
        return FAILED, failure
    if machine.status('late') is not None:
        return FAILED, f'timeout: the command did not end within {machine.options.timeout} s of guest time'
    if not in_time:
        return FAILED, 'the guest hangs: its own time limit did not end it'
    if code is None and machine.qemu.poll():
        return FAILED, f'QEMU failed: {machine.last_error()}'
    if code is None:
        return FAILED, 'the guest crashed' if complaint else 'the guest powered off before the command ended'
    if complaint and not machine.options.allow_warn:
        return FAILED, f'the kernel complained: {complaint[0].strip()}'
    return int(code), None


def crashed_early(machine):
    """
    While a kernel changes its own code, QEMU's emulation of several processors now and then lets one of them
    run what was there before. The kernel then crashes before anything of ours has run.
    """
    return machine.status('up') is None and bool(BAD_LINE.search(machine.text('console')))


def boot_failure(machine):
    """Shows the kernel log. Returns why the guest did not come to where it stops the machine."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        machine.qemu.wait(5)
    show_tail(machine.kernel_log())
    return judge(machine, machine.qemu.poll() is not None)[1]


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


def report_result(machine, in_time):
    """Print the error, and write the log if asked. Returns the run's exit code."""
    code, wrong = judge(machine, in_time)
    log = machine.kernel_log()
    if machine.options.log:
        with open(machine.options.log, 'w', encoding='utf-8') as f:
            f.write(log)
    if wrong:
        show_tail(log)
        say(wrong)
    return code
