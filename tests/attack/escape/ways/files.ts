// Ways to files of the host, of the platform and of other installations.
import { text } from '../machine-code.ts';
import type { Way } from '../way.ts';

const O_RDONLY = 0;
const O_WRONLY = 1;
const AT_FDCWD = -100;

export const fileWays: readonly Way[] = [
  {
    name: 'reads a file of the host by its path',
    control: 'as the user',
    attempt: {
      kind: 'code',
      inside: ({ fs, code }, t) => (code(() => fs.readFileSync(t.secretFile)) === 'done' ? 'through' : 'refused'),
    },
  },
  {
    name: 'writes a file of the host by its path',
    control: 'as the user',
    attempt: {
      kind: 'code',
      inside: ({ fs, code }, t) =>
        code(() => fs.closeSync(fs.openSync(t.secretFile, 'r+'))) === 'done' ? 'through' : 'refused',
    },
  },
  {
    name: 'reads a file of the host through the roots of all processes',
    control: 'as the user',
    attempt: {
      kind: 'code',
      inside: ({ fs, code }, t) => {
        const roots = fs
          .readdirSync('/proc')
          .filter((name) => /^\d+$/.test(name))
          .concat('self', String(t.hostPid))
          .flatMap((pid) => [`/proc/${pid}/root`, `/proc/${pid}/cwd`, `/proc/${pid}/cwd/../../../../../..`]);
        const open = roots.find((root) => code(() => fs.readFileSync(`${root}${t.secretFile}`)) === 'done');
        return open === undefined ? 'refused' : `through ${open}`;
      },
    },
  },
  {
    name: 'climbs out of its package with dots',
    control: 'as the user',
    attempt: {
      kind: 'code',
      inside: ({ fs, code }, t) => {
        const from = [process.cwd(), process.env.PLATFORM_VOLUME_DIR ?? '/', '/proc/self/cwd', '/tmp', '/dev/shm'];
        const dots = '/..'.repeat(40);
        return from.some((place) => code(() => fs.readFileSync(`${place}${dots}${t.secretFile}`)) === 'done')
          ? 'through'
          : 'refused';
      },
    },
  },
  {
    name: 'reads a file of the host through a symbolic link in its volume',
    control: 'as the user',
    attempt: {
      kind: 'code',
      inside: ({ fs, code }, t) => {
        const link = `${process.env.PLATFORM_VOLUME_DIR}/way-out`;
        fs.rmSync(link, { force: true });
        fs.symlinkSync(t.secretFile, link);
        const outcome = code(() => fs.readFileSync(link));
        fs.rmSync(link);
        return outcome === 'done' ? 'through' : outcome;
      },
    },
  },
  {
    name: 'makes a hard link to a file of the host in its volume',
    control: 'as the user',
    attempt: {
      kind: 'code',
      inside: ({ fs, code }, t) => {
        const link = `${process.env.PLATFORM_VOLUME_DIR}/hard-link`;
        const outcomes = [t.secretFile, `/proc/1/root${t.secretFile}`].map((path) =>
          code(() => fs.linkSync(path, link)),
        );
        fs.rmSync(link, { force: true });
        return outcomes.includes('done') ? 'through' : outcomes.join(' ');
      },
    },
  },
  {
    name: 'renames its volume away, to put another in its place',
    control: 'as root',
    attempt: {
      kind: 'code',
      inside: ({ fs, code }) => {
        const volume = process.env.PLATFORM_VOLUME_DIR ?? '';
        const outcome = code(() => fs.renameSync(volume, `${volume}-moved`));
        if (outcome === 'done') fs.renameSync(`${volume}-moved`, volume);
        return outcome === 'done' ? 'through' : outcome;
      },
    },
  },
  {
    name: 'lists the data folder of the platform',
    control: 'as root',
    attempt: {
      kind: 'code',
      inside: ({ fs }, t) => {
        const open = [t.dataFolder, `${t.dataFolder}/run`, `${t.dataFolder}/volumes`].filter((folder) => {
          try {
            return fs.readdirSync(folder).length > 0;
          } catch {
            return false;
          }
        });
        return open.length > 0 ? `through ${open.join(' ')}` : 'refused';
      },
    },
  },
  {
    name: 'reads the volume of another installation by its path on the host',
    control: 'as root',
    attempt: {
      kind: 'code',
      inside: ({ fs, code }, t) => (code(() => fs.readdirSync(t.neighbourVolume)) === 'done' ? 'through' : 'refused'),
    },
  },
  {
    name: 'reads the volume of another installation beside its own',
    control: 'as root',
    attempt: {
      kind: 'code',
      inside: ({ fs, code }, t) => {
        const name = t.neighbourVolume.slice(t.neighbourVolume.lastIndexOf('/') + 1);
        const own = process.env.PLATFORM_VOLUME_DIR ?? '';
        const places = [`${own}/../${name}`, `/proc/self/root${own}/../${name}`, `${fs.realpathSync(own)}/../${name}`];
        return places.some((place) => code(() => fs.readdirSync(place)) === 'done') ? 'through' : 'refused';
      },
    },
  },
  {
    name: 'reads the passwords of the host',
    control: 'as root',
    attempt: {
      kind: 'code',
      inside: ({ fs, code }) => {
        const files = ['/etc/shadow', '/etc/gshadow', '/proc/1/root/etc/shadow', '/var/backups/shadow.bak'];
        const open = files.find((file) => code(() => fs.readFileSync(file)) === 'done');
        return open === undefined ? 'refused' : `through ${open}`;
      },
    },
  },
  {
    name: 'opens a file by the handle of the root directory, without a path',
    control: 'as root',
    kernelOnly: true,
    attempt: {
      kind: 'calls',
      // What was known as "shocker": the handle of inode 2 is that of the root of most file systems.
      calls: () => [
        { number: 2, arguments: [text('/'), O_RDONLY, 0] },
        {
          number: 304,
          arguments: [
            { resultOf: 0 },
            { bytes: Buffer.from([8, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]) },
            O_RDONLY,
          ],
        },
      ],
      // ESTALE: it looked for the file.
      through: ({ last }) => last === 'done' || last === 'ESTALE',
    },
  },
  {
    name: 'asks for the handle of a file, to open it elsewhere',
    control: 'as root',
    kernelOnly: true,
    attempt: {
      kind: 'calls',
      calls: () => [
        {
          number: 303,
          arguments: [AT_FDCWD, text('/proc/self'), { bytes: Buffer.alloc(8) }, { bytes: Buffer.alloc(8) }, 0],
        },
      ],
      through: ({ last }) => last !== 'EPERM' && last !== 'ENOSYS',
    },
  },
  {
    name: 'writes to its own package',
    control: 'as the user',
    attempt: {
      kind: 'code',
      inside: ({ fs, code }) => {
        const entry = process.argv[1] ?? '';
        const folder = entry.slice(0, entry.lastIndexOf('/'));
        const outcomes = [
          code(() => fs.closeSync(fs.openSync(entry, 'r+'))),
          code(() => fs.writeFileSync(`${folder}/node_modules`, '')),
        ];
        return outcomes.includes('done') ? 'through' : outcomes.join(' ');
      },
    },
  },
  {
    name: 'writes to the program, the bootstrap or the loader that the next start uses',
    control: 'as root',
    attempt: {
      kind: 'code',
      inside: ({ fs, code }) => {
        const files = [
          process.execPath,
          '/opt/platform/bootstrap.mjs',
          '/opt/platform/init.sh',
          '/etc/ld.so.cache',
          '/bin/sh',
          '/usr/bin/env',
        ];
        const folders = ['/etc', '/usr/lib', '/opt/platform', '/lib', '/'];
        const outcomes = [
          ...files
            .filter((file) => fs.existsSync(file))
            .map((file) => code(() => fs.accessSync(file, fs.constants.W_OK))),
          ...folders
            .filter((folder) => fs.existsSync(folder))
            .map((folder) => code(() => fs.accessSync(folder, fs.constants.W_OK))),
        ];
        return outcomes.includes('done') ? 'through' : outcomes.join(' ');
      },
    },
  },
  {
    name: 'makes every later program load its library',
    control: 'as root',
    attempt: {
      kind: 'code',
      inside: ({ fs, code }) => {
        const outcomes = [
          '/etc/ld.so.preload',
          '/etc/ld.so.conf.d/x.conf',
          '/etc/environment',
          '/etc/profile.d/x.sh',
        ].map((file) =>
          code(() => {
            fs.accessSync(file.slice(0, file.lastIndexOf('/')), fs.constants.W_OK);
          }),
        );
        return outcomes.includes('done') ? 'through' : outcomes.join(' ');
      },
    },
  },
  {
    name: 'opens a disk, the memory or a port of the machine as a device',
    control: 'as root',
    withTunnel: /^through \/dev\/net$/,
    attempt: {
      kind: 'code',
      inside: ({ fs, code }) => {
        const devices = fs.readdirSync('/dev').map((name) => `/dev/${name}`);
        const raw = devices.filter((path) => {
          const stat = fs.statSync(path, { throwIfNoEntry: false });
          return (
            stat?.isBlockDevice() === true ||
            /^\/dev\/(mem|kmem|port|kmsg|kvm|fuse|mapper|uinput|loop|vhost|net|snapshot)/.test(path)
          );
        });
        const opened = raw.filter((path) => code(() => fs.closeSync(fs.openSync(path, 'r'))) === 'done');
        return opened.length > 0 ? `through ${opened.join(' ')}` : 'refused';
      },
    },
  },
  {
    name: 'makes device nodes of its own',
    control: 'as root',
    attempt: {
      kind: 'calls',
      calls: () => [
        { number: 133, arguments: [text('/tmp/way-out-disk'), 0o60666, 0x0800] },
        { number: 87, arguments: [text('/tmp/way-out-disk')] },
        { number: 133, arguments: [text('/dev/shm/way-out-mem'), 0o20666, 0x0101] },
        { number: 87, arguments: [text('/dev/shm/way-out-mem')] },
      ],
      through: ({ results }) => results.some((result) => result >= 0),
    },
  },
  {
    name: 'opens a device node that it finds or makes in its volume',
    control: 'as root',
    attempt: {
      kind: 'code',
      inside: ({ fs, code, childProcess }) => {
        const path = `${process.env.PLATFORM_VOLUME_DIR}/zero`;
        // The same numbers as /dev/zero, which harms nobody.
        childProcess.spawnSync('mknod', [path, 'c', '1', '5']);
        const outcome = code(() => fs.readSync(fs.openSync(path, 'r'), Buffer.alloc(1)));
        fs.rmSync(path, { force: true });
        return outcome === 'done' ? 'through' : outcome;
      },
    },
  },
  {
    name: 'becomes another user through a setuid program in its volume',
    control: 'as root',
    attempt: {
      kind: 'code',
      inside: ({ fs, code, childProcess }) => {
        const path = `${process.env.PLATFORM_VOLUME_DIR}/setuid`;
        fs.copyFileSync('/bin/sh', path);
        const chown = code(() => fs.chownSync(path, 4_242, 4_242));
        code(() => fs.chmodSync(path, 0o6755));
        const { stdout } = childProcess.spawnSync(path, ['-p', '-c', 'grep ^Uid: /proc/self/status'], {
          encoding: 'utf8',
        });
        fs.rmSync(path);
        return chown === 'done' || /\t4242/.test(stdout ?? '') ? 'through' : chown;
      },
    },
  },
  {
    name: 'reads the memory of the kernel',
    control: 'as root',
    attempt: {
      kind: 'code',
      inside: ({ fs, code }) => {
        const outcomes = ['/proc/kcore', '/dev/mem'].map((file) =>
          code(() => fs.readSync(fs.openSync(file, 'r'), Buffer.alloc(16))),
        );
        return outcomes.includes('done') ? 'through' : outcomes.join(' ');
      },
    },
  },
  {
    name: 'opens a switch of the kernel for writing: sysrq, core_pattern, uevent_helper, modprobe, release_agent',
    control: 'as root',
    attempt: {
      kind: 'code',
      // Opened and closed again: nothing is written even where it works.
      inside: ({ fs, code }) => {
        const switches = [
          ...[
            '/proc/sysrq-trigger',
            '/proc/sys/kernel/core_pattern',
            '/proc/sys/kernel/modprobe',
            '/proc/sys/kernel/sysrq',
          ],
          ...['/sys/kernel/uevent_helper', '/proc/sys/fs/binfmt_misc/register', '/proc/sys/vm/panic_on_oom'],
          ...['/proc/sys/user/max_user_namespaces', '/proc/sys/kernel/yama/ptrace_scope', '/proc/1/oom_score_adj'],
          ...[
            '/sys/fs/cgroup/release_agent',
            '/sys/fs/cgroup/memory/release_agent',
            '/sys/fs/cgroup/pids/release_agent',
          ],
        ];
        const opened = switches.filter(
          (path) => code(() => fs.closeSync(fs.openSync(path, fs.constants.O_WRONLY))) === 'done',
        );
        // Its own first process may be its own user's; that one switch leads nowhere.
        const harmful = opened.filter((path) => path !== '/proc/1/oom_score_adj');
        return harmful.length > 0 ? `through ${harmful.join(' ')}` : 'refused';
      },
    },
  },
  {
    name: 'raises its own limits in its control group',
    control: 'as root',
    attempt: {
      kind: 'code',
      inside: ({ fs, code }) => {
        const names = [
          'memory.max',
          'memory.limit_in_bytes',
          'pids.max',
          'cpu.max',
          'cpu.cfs_quota_us',
          'cgroup.procs',
        ];
        const found: string[] = [];
        const walk = (folder: string, depth: number) => {
          let entries: import('node:fs').Dirent[] = [];
          code(() => {
            entries = fs.readdirSync(folder, { withFileTypes: true });
          });
          for (const entry of entries) {
            const path = `${folder}/${entry.name}`;
            if (entry.isDirectory() && depth > 0) walk(path, depth - 1);
            if (names.includes(entry.name) && code(() => fs.accessSync(path, fs.constants.W_OK)) === 'done')
              found.push(path);
          }
        };
        walk('/sys/fs/cgroup', 4);
        return found.length > 0 ? `through ${found[0]}` : 'refused';
      },
    },
  },
  {
    name: 'writes to a file of the host that it holds open for reading, by opening it again',
    control: 'as root',
    attempt: {
      kind: 'calls',
      // /proc/self/exe leads to the program on the host: how runc was overwritten once.
      calls: () => [
        { number: 2, arguments: [text('/proc/self/exe'), O_WRONLY, 0] },
        { number: 21, arguments: [text('/proc/1/exe'), 2] },
      ],
      through: ({ results }) => (results[1] ?? -1) >= 0,
    },
  },
];
