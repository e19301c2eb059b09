#!/usr/bin/env python3
"""The system test on a real kernel: QEMU boots a Debian kernel, which finds virtual USB devices through its own USB stack.

    run.py [--library FILE] FLAVOUR FOLDER INIT TACTUS KEEPER SCENARIO…

FLAVOUR is amd64 or rt-amd64. The kernel comes from Debian's package, unpacked into FOLDER; nothing is installed.
INIT is the guest's first process, TACTUS the command, KEEPER its tactus-keep, FILE a library that the command loads, each
SCENARIO a program that must exit with 0. Exit code 77 if QEMU or the kernel is not available.
"""
import lzma
import os
import platform
import re
import shutil
import stat
import subprocess
import sys

SKIP = 77
BOOT_SECONDS = 580  # only a failure takes so long
MODULES = ['usb-common', 'usbcore', 'usbip-core', 'vhci-hcd']  # each after those it needs


def skip(why):
    print(f'guest: skipped: {why}')
    sys.exit(SKIP)


def output_of(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def uncompress(vmlinuz, path):
    """Decompresses the kernel, so that the guest need not: that is two thirds of the boot time."""
    with open(vmlinuz, 'rb') as file:
        image = file.read()
    begin = image.find(b'\xfd7zXZ\0')
    if begin >= 0:
        image = lzma.LZMADecompressor().decompress(image[begin:])
    with open(path, 'wb') as file:
        file.write(image)


def find_kernel(flavour, folder):
    """FOLDER/kernel and FOLDER/NAME.ko, unpacked from the package that linux-image-FLAVOUR depends on."""
    wanted = [os.path.join(folder, 'kernel')] + [os.path.join(folder, m + '.ko') for m in MODULES]
    if all(os.path.exists(path) for path in wanted):
        return
    for tool in ('apt-cache', 'apt-get', 'dpkg-deb', 'tar'):
        if not shutil.which(tool):
            skip(f'no {tool}, which is needed to get a kernel')
    os.makedirs(folder, exist_ok=True)
    try:
        depends = output_of('apt-cache', 'depends', f'linux-image-{flavour}')
        package = re.search(r'Depends: (linux-image-\S+)', depends).group(1)
        output_of('apt-get', 'download', package, cwd=folder)
    except (subprocess.CalledProcessError, AttributeError):
        skip(f'Debian\'s package linux-image-{flavour} cannot be downloaded')
    archive = next(os.path.join(folder, f) for f in os.listdir(folder) if f.endswith('.deb'))
    unpacked = os.path.join(folder, 'unpacked')
    shutil.rmtree(unpacked, ignore_errors=True)
    os.makedirs(unpacked)
    tar = subprocess.Popen(['dpkg-deb', '--fsys-tarfile', archive], stdout=subprocess.PIPE)
    subprocess.run(['tar', 'x', '-C', unpacked, '--wildcards', './boot/vmlinuz-*'] +
                   [f'*/{m}.ko*' for m in MODULES], stdin=tar.stdout, check=True)
    tar.wait()
    for path, _, names in os.walk(unpacked):
        for name in names:
            source = os.path.join(path, name)
            if name.startswith('vmlinuz-'):
                uncompress(source, wanted[0])
            elif name.endswith('.ko'):
                shutil.move(source, os.path.join(folder, name))
            elif name.endswith('.ko.xz'):
                with open(os.path.join(folder, name[:-3]), 'wb') as out:
                    subprocess.run(['xz', '-dc', source], stdout=out, check=True)
    shutil.rmtree(unpacked)
    os.remove(archive)


class Archive:
    """An initial RAM disk: cpio in the format newc."""

    def __init__(self):
        self.parts, self.names = [], set()

    def _add(self, name, mode, data=b'', device=(0, 0)):
        if name in self.names:
            return
        self.names.add(name)
        if '/' in name:
            self.folder(os.path.dirname(name))
        path = name.encode() + b'\0'
        fields = [len(self.names), mode, 0, 0, 1, 0, len(data), 0, 0, device[0], device[1], len(path), 0]
        head = b'070701' + b''.join(b'%08X' % f for f in fields) + path
        self.parts += [head + b'\0' * (-len(head) % 4), data + b'\0' * (-len(data) % 4)]

    def folder(self, name):
        self._add(name, stat.S_IFDIR | 0o755)

    def file(self, name, data):
        self._add(name, stat.S_IFREG | 0o755, data)

    def console(self):
        self._add('dev/console', stat.S_IFCHR | 0o600, device=(5, 1))

    def program(self, name, path, folder):
        """A program without debugging information, and the libraries it is linked with."""
        slim = os.path.join(folder, 'stripped')
        if subprocess.run(['strip', '-g', '-o', slim, path], capture_output=True).returncode == 0:
            path, original = slim, path
        else:
            original = path
        with open(path, 'rb') as file:
            self.file(name, file.read())
        libraries = subprocess.run(['ldd', original], capture_output=True, text=True).stdout
        for library in re.findall(r'(/\S+) \(0x', libraries):
            with open(library, 'rb') as file:
                self.file(library.lstrip('/'), file.read())

    def write(self, path):
        self._add('TRAILER!!!', 0)
        with open(path, 'wb') as file:
            file.write(b''.join(self.parts))


def build_disk(folder, init, tactus, keeper, library, scenarios):
    archive = Archive()
    for name in ('dev', 'proc', 'sys', 'tmp'):
        archive.folder(name)
    archive.console()
    archive.program('init', init, folder)
    archive.program('bin/tactus', tactus, folder)
    archive.program('libexec/tactus/tactus-keep', keeper, folder)
    if library:
        archive.program(f'lib/tactus/{os.path.basename(library)}', library, folder)
    names = [os.path.basename(s) for s in scenarios]
    for name, path in zip(names, scenarios):
        archive.program(f'scenarios/{name}', path, folder)
    archive.file('scenarios/list', ''.join(n + '\n' for n in names).encode())
    for module in MODULES:
        with open(os.path.join(folder, module + '.ko'), 'rb') as file:
            archive.file(f'modules/{module}.ko', file.read())
    archive.file('modules/list', ''.join(f'{m}.ko\n' for m in MODULES).encode())
    path = os.path.join(folder, 'initrd')
    archive.write(path)
    return path, names


def boot(folder, initrd):
    """Boots the guest and returns its console output."""
    command = ['qemu-system-x86_64', '-accel', 'tcg', '-cpu', 'max', '-smp', '2', '-m', '768',
               '-display', 'none', '-monitor', 'none', '-serial', 'stdio', '-nodefaults', '-no-reboot',
               '-kernel', os.path.join(folder, 'kernel'), '-initrd', initrd,
               '-append', 'console=ttyS0 quiet loglevel=4 panic=-1 mitigations=off nokaslr']
    try:
        run = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             timeout=BOOT_SECONDS)
        output = run.stdout
    except subprocess.TimeoutExpired as late:
        output = (late.stdout or b'') + b'\nguest: still running after %d s\n' % BOOT_SECONDS
    return output.decode(errors='replace')


def main():
    arguments = sys.argv[1:]
    library = arguments.pop(1) if arguments[0] == '--library' else None
    flavour, folder, init, tactus, keeper, *scenarios = arguments[library is not None:]
    if platform.machine() != 'x86_64':
        skip(f'the kernels are for x86_64, this machine is {platform.machine()}')
    if not shutil.which('qemu-system-x86_64'):
        skip('no qemu-system-x86_64 (package qemu-system-x86)')
    folder = os.path.join(folder, flavour)
    find_kernel(flavour, folder)
    initrd, names = build_disk(folder, init, tactus, keeper, library, scenarios)
    output = boot(folder, initrd)
    os.remove(initrd)
    print(output)
    failed = [n for n in names if f'guest: {n}: ok' not in output]
    if failed or 'guest: end' not in output:
        print(f'guest: failed: {", ".join(failed) or "the guest did not finish"}')
        sys.exit(1)


main()
