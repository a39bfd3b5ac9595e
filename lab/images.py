# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""The files that the lab boots: Debian's kernel, its driver sources, our module, file systems for the guest.

Everything is made once and kept below the cache directory; a stamp holds the hash of
what it was made from. Builders exclude one another by a lock, so labs may start together.
"""

import contextlib
import fcntl
import glob
import hashlib
import lzma
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile

QEMU = '/usr/bin/qemu-system-x86_64'
TARBALL = '/usr/src/linux-source-6.12.tar.xz'
NEEDED = [(TARBALL, 'linux-source-6.12'), ('/bin/busybox', 'busybox-static'),
          ('/sbin/depmod', 'kmod'), ('/usr/bin/zstd', 'zstd'),
          (QEMU, 'qemu-system-x86')]
# The sources of amdgpu, and the package that gives the version.
WANTED_SOURCES = ['*/Makefile', '*/drivers/gpu/drm/amd/*', '*/include/uapi/*']
# Modules of the guest besides those that amdgpu imports: phram for the files of a run, the others for --root.
# ext4 loads crc32c by its kind, so no list of imports has it.
BASE_MODULES = ['phram']
ROOT_MODULES = ['mtdblock', 'overlay', 'squashfs', 'ext4', 'crc32c_generic']
# The guest's PATH: programs below the build directory, and scripts of lab/ as lab-NAME.
OWN_PROGRAMS = ['lab/bin/*', 'cli/gpreempt', 'daemon/gpreemptd']
SCRIPTS = ['colocate', 'state']


class Trouble(Exception):
    """The lab cannot go on: a line for the user, and the exit code."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


def say(text):
    print(f'lab: {text}', file=sys.stderr, flush=True)


def run_logged(log, command, what):
    """Run a build step. Its output is shown only if it fails."""
    with open(log, 'wb') as out:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out,
                              stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        with open(log, encoding='utf-8', errors='replace') as text:
            sys.stderr.writelines(text.readlines()[-40:])
        raise Trouble(125, f'{what} failed; the whole output is in {log}')


# --- archives the kernel unpacks ---------------------------------------------------

class Archive:
    """A cpio archive with sorted names and fixed times: the same bytes from the same files."""

    def __init__(self):
        self.entries = {}

    def directory(self, path):
        if path and path not in self.entries:
            self.directory(os.path.dirname(path))
            self.entries[path] = (stat.S_IFDIR | 0o755, b'')

    def data(self, path, content, mode=0o644):
        self.directory(os.path.dirname(path))
        self.entries[path] = (stat.S_IFREG | mode, content)

    def link(self, path, target):
        self.directory(os.path.dirname(path))
        self.entries[path] = (stat.S_IFLNK | 0o777, target.encode())

    def file(self, path, source):
        with open(source, 'rb') as f:
            self.data(path, f.read(), 0o755 if os.access(source, os.X_OK) else 0o644)

    def bytes(self, trailer=True):
        """The archive; without @trailer another one may follow and continue it."""
        entries = sorted(self.entries.items()) + ([('TRAILER!!!', (0, b''))] if trailer else [])
        parts = []
        for number, (path, (mode, content)) in enumerate(entries, 1):
            name = path.encode() + b'\0'
            fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name), 0)
            header = b'070701' + b''.join(b'%08x' % value for value in fields)
            parts += [padded(header + name), padded(content)]
        return b''.join(parts)


def padded(content):
    return content + b'\0' * (-len(content) % 4)


# --- stamps ------------------------------------------------------------------------

def hash_of(*paths):
    """A hash of names and contents of the files @paths, and of those below the folders @paths."""
    state = hashlib.sha256()
    for path in sorted(name for path in paths for name in files_below(path)):
        state.update(path.encode() + b'\0')
        with open(path, 'rb') as f:
            state.update(f.read())
    return state.hexdigest()


def age_of(path):
    """A key that changes whenever the file @path is made again, for files that are too big to read each time."""
    info = os.stat(path) if os.path.exists(path) else None
    return f'{path} {info.st_size} {info.st_mtime_ns}' if info else f'no {path}'


def files_below(path):
    if os.path.isfile(path):
        return [path]
    return [os.path.join(where, name) for where, _, names in os.walk(path) for name in names]


@contextlib.contextmanager
def made_from(stamp, key):
    """Yield True if the thing of @stamp has to be made again; on success it is stamped @key."""
    try:
        with open(stamp, encoding='utf-8') as f:
            old = f.read()
    except FileNotFoundError:
        old = None
    if old == key:
        yield False
        return
    with contextlib.suppress(FileNotFoundError):
        os.remove(stamp)
    yield True
    with open(stamp, 'w', encoding='utf-8') as f:
        f.write(key)


@contextlib.contextmanager
def replaced(path):
    """A file to write that becomes @path at the end, because other processes may be reading the old one."""
    with open(path + '.new', 'wb') as out:
        yield out
    os.rename(path + '.new', path)


# --- the lab's files ---------------------------------------------------------------

class Images:
    """The cache of one build directory. make() brings it up to date."""

    def __init__(self, top, build):
        self.top = top
        self.build = build
        self.cache = os.path.join(build, 'lab')
        self.source = os.path.join(self.cache, 'source')
        self.module = os.path.join(self.cache, 'module', 'amdgpu.ko')
        self.gpreempt = os.path.join(self.cache, 'gpreempt', 'gpreempt.ko')
        self.vmlinux = os.path.join(self.cache, 'vmlinux')
        self.base = os.path.join(self.cache, 'base.cpio')
        self.base_for_root = os.path.join(self.cache, 'base-root.cpio')
        self.version = None
        self.kernel = None

    def make(self, module_needed):
        for path, package in NEEDED:
            if not os.path.exists(path):
                raise Trouble(3, f'no {path}; install the package {package}')
        os.makedirs(self.cache, exist_ok=True)
        with self.locked():
            self.make_source()
            self.version = self.read_version()
            self.kernel = self.find_kernel()
            self.make_vmlinux()
            self.make_module(module_needed)
            self.make_gpreempt(module_needed)
            self.make_base()

    @contextlib.contextmanager
    def locked(self):
        """Holds the lock of the cache."""
        with open(self.path('.lock'), 'w', encoding='utf-8') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def has_module(self):
        return os.path.exists(self.module)

    def initrd(self, root):
        return self.base_for_root if root else self.base

    def own_modules(self):
        return [path for path in (self.module, self.gpreempt) if os.path.exists(path)]

    def path(self, *names):
        return os.path.join(self.cache, *names)

    def make_source(self):
        with made_from(self.path('source.stamp'), age_of(TARBALL)) as new:
            if new:
                say('unpacking the driver sources')
                shutil.rmtree(self.source, ignore_errors=True)
                os.makedirs(self.source)
                run_logged(self.path('source.log'),
                           ['tar', '-xJf', TARBALL, '-C', self.source, '--strip-components=1',
                            '--wildcards', *WANTED_SOURCES], 'unpacking the driver sources')

    def read_version(self):
        """The name Debian gives the kernel made from these sources."""
        with open(os.path.join(self.source, 'Makefile'), encoding='utf-8') as f:
            value = dict(re.findall(r'^(\w+) = *(\d+)$', f.read(), re.M))
        number = '.'.join(value[name] for name in ('VERSION', 'PATCHLEVEL', 'SUBLEVEL'))
        return f'{number}+deb12-amd64'

    def find_kernel(self):
        """The directory below which boot/ and lib/modules/ of our version are.

        The installed image if there is one. Installing it for us would put it into the
        machine's boot order, so otherwise the package is only unpacked.
        """
        for root in ('/', self.path('kernel')):
            if (os.path.exists(os.path.join(root, f'boot/vmlinuz-{self.version}')) and
                    os.path.isdir(os.path.join(root, f'lib/modules/{self.version}/kernel'))):
                return root
        package = f'linux-image-{self.version}'
        say(f'fetching {package}')
        download, root = self.path('download'), self.path('kernel')
        for folder in (download, root):
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)
        with open(self.path('download.log'), 'wb') as log:
            subprocess.run(['apt-get', '-q', '-o', 'APT::Sandbox::User=root', 'download', package],
                           cwd=download, stdout=log, stderr=log, check=False)
        found = glob.glob(os.path.join(download, '*.deb'))
        if not found:
            raise Trouble(3, f'apt-get cannot fetch {package}; run apt-get update and install the '
                             'newest linux-source-6.12, whose version the image must have')
        run_logged(self.path('download.log'), ['dpkg-deb', '-x', found[0], root],
                   f'unpacking {package}')
        shutil.rmtree(download)
        return root

    def make_vmlinux(self):
        """Unpack the kernel: emulated, it would take seconds to unpack itself at each boot."""
        vmlinuz = os.path.join(self.kernel, f'boot/vmlinuz-{self.version}')
        with made_from(self.path('vmlinux.stamp'), age_of(vmlinuz)) as new:
            if new and not self.unpack_zstd(vmlinuz):
                with replaced(self.vmlinux) as out, open(vmlinuz, 'rb') as image:
                    shutil.copyfileobj(image, out)

    def unpack_zstd(self, vmlinuz):
        with open(vmlinuz, 'rb') as f:
            image = f.read()
        start = image.find(b'\x28\xb5\x2f\xfd')
        if start < 0:
            return False
        # The tool complains about data after the compressed kernel, so check the first bytes instead.
        done = subprocess.run(['zstd', '-dcq'], input=image[start:], capture_output=True,
                              check=False)
        if not done.stdout.startswith(b'\x7fELF'):
            return False
        with replaced(self.vmlinux) as out:
            out.write(done.stdout)
        return True

    def make_module(self, needed):
        """Build the driver by lab/adapter/build. If it is not @needed, a failure only prints a message."""
        builder = os.path.join(self.top, 'lab/adapter/build')
        if not os.path.exists(builder):
            say('lab/adapter/build: not found; continuing without the driver')
            return
        headers = f'/usr/src/linux-headers-{self.version}'
        if not os.path.isdir(headers):
            raise Trouble(3, f'no {headers}; install the package linux-headers-{self.version}')
        folder = os.path.dirname(self.module)
        inputs = [os.path.join(self.top, name) for name in
                  ('lab/adapter', 'lab/abi', 'lab/ledger.h', 'lab/recording.h', 'uapi/aql.h',
                   'uapi/kfd.h', 'uapi/system', 'vgpu', 'env')]
        try:
            with made_from(self.path('module.stamp'), self.version + hash_of(*inputs)) as new:
                if new:
                    say('building the module amdgpu' +
                        ('' if os.path.exists(folder) else ', about a minute the first time'))
                    os.makedirs(folder, exist_ok=True)
                    run_logged(self.path('abi.log'),
                               [os.path.join(self.top, 'lab/abi/check'), self.source],
                               "comparing our definitions with the kernel's")
                    run_logged(self.path('module.log'), [builder, self.source, headers, folder],
                               'building the module')
        except Trouble as trouble:
            if needed:
                raise
            say(trouble)

    def make_gpreempt(self, needed):
        """Build gpreempt.ko by kernel/build, for this kernel and this driver. The guest has it but does not load it."""
        headers = f'/usr/src/linux-headers-{self.version}'
        inputs = [os.path.join(self.top, name) for name in ('kernel', 'core', 'policy', 'env', 'uapi')]
        key = f'{self.version} {age_of(TARBALL)} {hash_of(*inputs)}'
        try:
            with made_from(self.path('gpreempt.stamp'), key) as new:
                if new:
                    say('building the module gpreempt')
                    run_logged(self.path('gpreempt.log'),
                               ['env', 'GP_FLOOR=y', os.path.join(self.top, 'kernel/build'),
                                self.source, headers,
                                os.path.dirname(self.gpreempt)], 'building the module gpreempt')
        except Trouble as trouble:
            if needed:
                raise
            say(trouble)

    # --- the contents of the guest's memory ------------------------------------------

    def make_base(self):
        """The part that every run shares: busybox, /init, modules."""
        inputs = hash_of(os.path.join(self.top, 'lab/init'), '/bin/busybox', __file__)
        with made_from(self.path('base.stamp'),
                       f'{self.version} {age_of(self.module)} {age_of(self.gpreempt)} '
                       f'{inputs}') as new:
            if new:
                wanted = BASE_MODULES + [name for path in self.own_modules() for name in imports(path)]
                self.write_base(self.base, wanted)
                self.write_base(self.base_for_root, wanted + ROOT_MODULES)

    def write_base(self, path, modules):
        archive = Archive()
        self.add_busybox(archive)
        archive.file('init', os.path.join(self.top, 'lab/init'))
        self.add_modules(archive, self.closure(modules))
        with replaced(path) as out:
            out.write(archive.bytes())

    def add_busybox(self, archive):
        for folder in ('proc', 'sys', 'dev', 'run', 'tmp', 'root', 'lab', 'mnt', 'usr/lib64'):
            archive.directory(folder)
        # One tree, as on Debian: what ldd finds in /lib is in /usr/lib.
        for folder in ('bin', 'sbin', 'lib', 'lib64'):
            archive.link(folder, 'usr/' + folder)
        archive.link('usr/sbin', 'bin')
        archive.file('usr/bin/busybox', '/bin/busybox')
        names = subprocess.run(['/bin/busybox', '--list'], capture_output=True, text=True,
                               check=True).stdout.split()
        for name in names:
            if name != 'busybox':
                archive.link('usr/bin/' + name, 'busybox')

    def closure(self, names):
        """{name: file} of the kernel's modules @names and of everything they import."""
        files = {}
        for path in files_below(os.path.join(self.kernel, f'lib/modules/{self.version}/kernel')):
            files[os.path.basename(path).split('.')[0].replace('-', '_')] = path
        found, waiting = {}, list(names)
        while waiting:
            name = waiting.pop().replace('-', '_')
            if name not in found and name in files:
                found[name] = files[name]
                waiting += imports(files[name])
        return found

    def add_modules(self, archive, modules):
        """Add @modules and our own, with the files by which modprobe loads them in the right order."""
        stage = self.path('stage')
        shutil.rmtree(stage, ignore_errors=True)
        folder = os.path.join(stage, 'lib/modules', self.version)
        os.makedirs(os.path.join(folder, 'kernel'))
        for name, path in modules.items():
            opened = lzma.open if path.endswith('.xz') else open
            with opened(path, 'rb') as f, open(f'{folder}/kernel/{name}.ko', 'wb') as out:
                out.write(unsigned(f.read()))
        for path in self.own_modules():
            # This keeps BTF.
            subprocess.run(['strip', '--strip-debug', '-o',
                            f'{folder}/kernel/{os.path.basename(path)}', path], check=True)
        # depmod warns about lists that only a complete tree has.
        subprocess.run(['/sbin/depmod', '-b', stage, self.version], stderr=subprocess.DEVNULL,
                       check=True)
        os.rename(f'{folder}/modules.dep', f'{folder}/kernel/modules.dep')
        for name in sorted(os.listdir(f'{folder}/kernel')):
            where = f'usr/lib/modules/{self.version}/'
            where += name if name == 'modules.dep' else 'kernel/' + name
            archive.file(where, f'{folder}/kernel/{name}')
        shutil.rmtree(stage)

    def programs(self):
        """The part of a run's files that all runs share: the project's programs, without debug information."""
        scripts = [os.path.join(self.top, 'lab', name) for name in SCRIPTS]
        programs = self.own_programs()
        needed = sorted({library for path in programs for library in libraries(path)})
        ages = '\n'.join(age_of(path) for path in [__file__, *programs, *needed, *scripts])
        archive, file = Archive(), self.path('programs.cpio')
        with self.locked(), made_from(self.path('programs.stamp'), ages) as new:
            if new:
                for path in programs:
                    archive.data('usr/bin/' + os.path.basename(path), stripped(path), 0o755)
                    add_libraries(archive, path)
                for name, path in zip(SCRIPTS, scripts):
                    archive.file('usr/bin/lab-' + name, path)
                with replaced(file) as out:
                    out.write(archive.bytes(trailer=False))
            with open(file, 'rb') as f:
                return f.read()

    def own_programs(self):
        return [path for pattern in OWN_PROGRAMS
                for path in sorted(glob.glob(os.path.join(self.build, pattern)))
                if os.path.isfile(path) and os.access(path, os.X_OK)]


def unsigned(module):
    """A module without its signature, whose check is a quarter of the guest's boot.

    Nothing depends on it: our own module is unsigned and taints the kernel anyway.
    """
    magic = b'~Module signature appended~\n'
    if not module.endswith(magic):
        return module
    length = int.from_bytes(module[-len(magic) - 4:-len(magic)], 'big')
    return module[:-len(magic) - 12 - length]


def module_info(module, field):
    """The lines of @field that a module carries."""
    done = subprocess.run(['/sbin/modinfo', '-F', field, module], capture_output=True, text=True,
                          check=True)
    return done.stdout.splitlines()


def imports(module):
    return [name for line in module_info(module, 'depends') for name in line.split(',') if name]


def libraries(program):
    """The files that the dynamic linker would load for @program; none if it is not a program."""
    with open(program, 'rb') as f:
        if f.read(4) != b'\x7fELF':
            return []
    done = subprocess.run(['ldd', program], capture_output=True, text=True, check=False)
    missing = re.findall(r'^\s*(\S+) => not found', done.stdout, re.M)
    if missing:
        raise Trouble(2, f'{program} needs {", ".join(missing)}, which this machine does not have')
    return re.findall(r'(?:=> |^\s*)(/\S+) \(0x', done.stdout, re.M)


def stripped(program):
    """The program without debug information, which the guest need not copy."""
    with tempfile.TemporaryDirectory(prefix='lab-') as folder:
        out = os.path.join(folder, 'program')
        subprocess.run(['strip', '-o', out, program], check=True)
        with open(out, 'rb') as f:
            return f.read()


def add_program(archive, path, source):
    """Add @source as @path, with the libraries it needs."""
    archive.file(path, source)
    add_libraries(archive, source)


def add_libraries(archive, program):
    """Put the libraries of @program where the linker looks for them."""
    for library in libraries(program):
        where = os.path.join(os.path.realpath(os.path.dirname(library)), os.path.basename(library))
        if where.startswith('/lib'):
            where = '/usr' + where
        archive.file(where[1:], library)
