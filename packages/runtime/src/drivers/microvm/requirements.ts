// What a machine needs to run virtual machines: programs, a kernel for the guest, privileges. Each missing one is a
// sentence with what to do.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { findProgram } from '../../find-program.ts';

export interface MicrovmSettings {
  /** `PLATFORM_MICROVM_MONITOR`. Default: QEMU where it is installed, else Firecracker. */
  readonly monitor?: 'qemu' | 'firecracker';
  /**
   * `PLATFORM_MICROVM_KERNEL`: a bzImage for QEMU, an uncompressed ELF kernel for Firecracker. Default: Debian's cloud
   * kernel in /boot.
   */
  readonly kernel?: string;
  /**
   * `PLATFORM_MICROVM_MODULES`: its `/lib/modules/<version>`. Default: found by the kernel's name; none is needed when
   * all is built in.
   */
  readonly modules?: string;
  /** `PLATFORM_MICROVM_FIRECRACKER`: the static program. Default: `firecracker` in the system's folders. */
  readonly firecracker?: string;
}

export interface Equipment {
  readonly monitor: 'qemu' | 'firecracker';
  /** The monitor's program. */
  readonly program: string;
  readonly kernel: string;
  readonly modules: string | undefined;
  readonly busybox: string;
  readonly setpriv: string;
  readonly makeErofs: string;
  readonly makeExt4: string;
  /** Needed for `network.public` only. */
  readonly nft: string | undefined;
}

/** Why it is not worth a trial with KVM here, in one sentence. */
export function whyNoMicrovm(settings: MicrovmSettings): string | undefined {
  const equipment = findEquipment(settings);
  if (!('monitor' in equipment)) return equipment[0];
  return existsSync('/dev/kvm') ? undefined : 'there is no /dev/kvm.';
}

/** Everything there, or every lack in words. */
export function findEquipment(settings: MicrovmSettings): Equipment | readonly string[] {
  const lacks: string[] = [];
  const need = (program: string | undefined, lack: string) => {
    if (program === undefined) lacks.push(lack);
    return program ?? '';
  };
  const debian = (name: string, packageName: string) =>
    need(findProgram(name), `${name} is not installed. Debian: apt-get install ${packageName}`);
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return ['Micro virtual machines are tested on x86-64 Linux only.'];
  }
  if (process.getuid?.() !== 0) {
    lacks.push('Micro virtual machines need the platform to run as root, which gives each its own network and user.');
  }
  if (!existsSync('/dev/net/tun')) lacks.push('There is no /dev/net/tun. Load the kernel module: modprobe tun');
  debian('ip', 'iproute2');
  debian('flock', 'util-linux');
  const { monitor, program } = findMonitor(settings, need);
  const kernel = settings.kernel ?? newestCloudKernel() ?? '';
  if (kernel === '' || !existsSync(kernel)) {
    lacks.push(
      settings.kernel === undefined
        ? "There is no kernel for the guests. Set PLATFORM_MICROVM_KERNEL to one, for example out of Debian's package linux-image-cloud-amd64."
        : `PLATFORM_MICROVM_KERNEL is ${settings.kernel}, which does not exist.`,
    );
  }
  const modules = settings.modules ?? modulesBeside(kernel);
  if (settings.modules !== undefined && !existsSync(settings.modules)) {
    lacks.push(`PLATFORM_MICROVM_MODULES is ${settings.modules}, which does not exist.`);
  }
  const found: Equipment = {
    monitor,
    program,
    kernel,
    modules,
    busybox: staticBusybox(debian('busybox', 'busybox-static'), lacks),
    setpriv: debian('setpriv', 'util-linux'),
    makeErofs: debian('mkfs.erofs', 'erofs-utils'),
    makeExt4: debian('mkfs.ext4', 'e2fsprogs'),
    nft: findProgram('nft'),
  };
  return lacks.length > 0 ? lacks : found;
}

/** The initramfs holds no libraries. */
function staticBusybox(busybox: string, lacks: string[]): string {
  if (busybox !== '' && readFileSync(busybox).includes('/lib64/ld-linux')) {
    lacks.push('busybox is not the static one. Debian: apt-get install busybox-static');
  }
  return busybox;
}

function findMonitor(
  settings: MicrovmSettings,
  need: (program: string | undefined, lack: string) => string,
): Pick<Equipment, 'monitor' | 'program'> {
  const qemu = findProgram('qemu-system-x86_64');
  const firecracker = settings.firecracker ?? findProgram('firecracker');
  const monitor = settings.monitor ?? (qemu === undefined && firecracker !== undefined ? 'firecracker' : 'qemu');
  if (monitor === 'qemu') {
    return { monitor, program: need(qemu, 'QEMU is not installed. Debian: apt-get install qemu-system-x86') };
  }
  const there = firecracker !== undefined && existsSync(firecracker);
  return {
    monitor,
    program: need(
      there ? firecracker : undefined,
      'Firecracker was not found. Set PLATFORM_MICROVM_FIRECRACKER to its program.',
    ),
  };
}

function newestCloudKernel(): string | undefined {
  if (!existsSync('/boot')) return undefined;
  const names = readdirSync('/boot').filter((name) => /^vmlinuz-.*-cloud-amd64$/.test(name));
  const newest = names.sort((one, other) => one.localeCompare(other, 'en', { numeric: true })).at(-1);
  return newest === undefined ? undefined : join('/boot', newest);
}

/** Debian's packages lay `boot/vmlinuz-<version>` and `lib/modules/<version>` out under one root. */
function modulesBeside(kernel: string): string | undefined {
  const version = /^vmlinuz-(.+)$/.exec(basename(kernel))?.[1];
  if (version === undefined) return undefined;
  const root = dirname(dirname(kernel));
  return [join(root, 'lib/modules', version), join(root, 'usr/lib/modules', version)].find(existsSync);
}
