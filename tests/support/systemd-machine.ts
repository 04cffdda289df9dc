// A machine with systemd, in namespaces of its own on this one: its own network with nothing but a loopback interface,
// processes, control groups, devices, and /etc, /opt, /run, /var/lib and /var/log, all of which go with it. Needs root.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { promisify } from 'node:util';
import { lacksProgram } from './lacks-program.ts';
import { until } from './wait.ts';

const SYSTEMD = '/lib/systemd/systemd';
/** The units of this machine that the other one has too, beside the targets below. */
const BORROWED = ['systemd-journald.service', 'systemd-journald.socket', 'nginx.service', 'caddy.service'];

/** A target for each that those units name; nothing of this machine starts with them. */
const TARGETS: Readonly<Record<string, string>> = {
  'multi-user.target': 'Requires=basic.target\nAfter=basic.target\nAllowIsolate=yes',
  'basic.target': 'Requires=systemd-journald.socket\nAfter=systemd-journald.socket',
  ...Object.fromEntries(
    [
      'sysinit',
      'sockets',
      'local-fs',
      'remote-fs',
      'network',
      'network-online',
      'nss-lookup',
      'time-sync',
      'shutdown',
    ].map((name) => [`${name}.target`, 'DefaultDependencies=no']),
  ),
};

const BOOT = `
set -eu
folder=$1 checkout=$2
mount --make-rprivate /
mkdir "$folder/checkout" "$folder/etc" "$folder/var-lib"
mount --bind "$checkout" "$folder/checkout"
mount -t tmpfs tmpfs "$folder/etc"
mkdir "$folder/etc/upper" "$folder/etc/work"
mount -t overlay -o "lowerdir=/etc,upperdir=$folder/etc/upper,workdir=$folder/etc/work" overlay /etc
for own in /etc/systemd/system /usr/local/sbin /opt /run /var/log; do mount -t tmpfs -o mode=755 tmpfs "$own"; done
mount --bind "$folder/var-lib" /var/lib
mkdir "$folder/dev"
mount -t tmpfs -o mode=755 tmpfs "$folder/dev"
for device in null zero full random urandom tty; do cp -a "/dev/$device" "$folder/dev"; done
mkdir "$folder/dev/pts" "$folder/dev/shm"
ln -s /proc/self/fd "$folder/dev/fd"
ln -s pts/ptmx "$folder/dev/ptmx"
mount -t devpts -o newinstance,ptmxmode=666 devpts "$folder/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$folder/dev/shm"
mount --rbind "$folder/dev" /dev
mkdir -p /opt/platform /var/log/nginx /var/lib/nginx
mount --bind "$folder/checkout" /opt/platform
umount -l /sys/fs/cgroup
mount -t cgroup2 cgroup2 /sys/fs/cgroup
ip link set lo up
export container=test SYSTEMD_UNIT_PATH="/etc/systemd/system:$folder/units"
exec ${SYSTEMD} --system --unit=multi-user.target --log-target=console --show-status=false
`;

export interface SystemdMachine {
  /** Runs a script of `sh` there as root. @returns what it wrote. @throws Error with that when it fails */
  run(script: string): Promise<string>;
  /** A program that runs in the network of that machine, and in nothing else of it: the path of an executable file. */
  inItsNetwork(program: string): string;
  /** Ends everything there. */
  stop(): Promise<void>;
}

/** Why there can be none here; `false` where there can. */
export function systemdUnavailable(): string | false {
  if (process.getuid?.() !== 0) return 'a machine with systemd needs root: run the tests as root';
  if (!existsSync(SYSTEMD)) return 'needs Debian’s systemd';
  return lacksProgram('unshare') || lacksProgram('nsenter') || lacksProgram('ip');
}

/** @param checkout what is at /opt/platform there */
export async function startSystemdMachine(checkout: string): Promise<SystemdMachine> {
  const folder = mkdtempSync(path.join(tmpdir(), 'pt-systemd-'));
  const group = ownControlGroup(path.basename(folder));
  writeUnits(path.join(folder, 'units'));
  let said = '';
  // Its first process joins the control group that becomes the root of its hierarchy.
  const boot = `echo $$ >'${group}/cgroup.procs'; exec unshare --mount --pid --cgroup --uts --ipc --net --fork --kill-child --mount-proc sh -c '${BOOT}' sh "$@"`;
  const child = spawn('sh', ['-c', boot, 'sh', folder, checkout], { stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      said = `${said}${chunk.toString()}`.slice(-10_000);
    });
  let pid = 0;
  const run = async (script: string) => {
    const options = { env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root' } };
    try {
      const { stdout, stderr } = await promisify(execFile)(
        'nsenter',
        ['--target', String(pid), '--all', 'sh', '-euc', script],
        { ...options, maxBuffer: 32 * 1024 * 1024 },
      );
      return stdout + stderr;
    } catch (error) {
      const { stdout, stderr } = error as { stdout?: string; stderr?: string };
      throw new Error(`${script}\n${stdout ?? ''}${stderr ?? String(error)}`);
    }
  };
  const stop = async () => {
    await end(child);
    rmSync(folder, { recursive: true, force: true });
    // Empty once the kernel has reaped the last process.
    await until('its control groups are empty', () => removed(group));
  };
  try {
    await until('systemd has booted', async () => {
      if (child.exitCode !== null) throw new Error(`systemd ended: ${said}`);
      pid = firstProcess(child.pid ?? 0);
      return pid !== 0 && (await run('systemctl is-system-running').catch(() => '')).trim() === 'running';
    });
  } catch (error) {
    await stop();
    throw new Error(`${(error as Error).message}\n${said}`);
  }
  return {
    run,
    inItsNetwork(program) {
      const file = path.join(folder, path.basename(program));
      writeFileSync(file, `#!/bin/sh\nexec nsenter --net=/proc/${pid}/ns/net -- '${program}' "$@"\n`, { mode: 0o755 });
      return file;
    },
    stop,
  };
}

function writeUnits(folder: string): void {
  mkdirSync(folder);
  for (const [name, lines] of Object.entries(TARGETS))
    writeFileSync(path.join(folder, name), `[Unit]\nDescription=${name}\n${lines}\n`);
  for (const name of BORROWED) {
    const file = path.join('/lib/systemd/system', name);
    if (existsSync(file)) writeFileSync(path.join(folder, name), readFileSync(file));
  }
}

/** In the hierarchy of version 2, which older systems have beside the others. */
function ownControlGroup(name: string): string {
  const root = existsSync('/sys/fs/cgroup/unified') ? '/sys/fs/cgroup/unified' : '/sys/fs/cgroup';
  const group = path.join(root, name);
  mkdirSync(group);
  return group;
}

/** systemd: the only child of `unshare`, in its own pid namespace; 0 while there is none. */
function firstProcess(parent: number): number {
  const children = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim();
  const pid = Number(children.split(' ')[0]);
  if (!(pid > 0)) return 0;
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith(SYSTEMD) ? pid : 0;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** Control groups are removed from the innermost on, and only without processes. */
function removed(group: string): boolean {
  try {
    for (const entry of readdirSync(group, { withFileTypes: true }))
      if (entry.isDirectory() && !removed(path.join(group, entry.name))) return false;
    rmdirSync(group);
    return true;
  } catch {
    return false;
  }
}
