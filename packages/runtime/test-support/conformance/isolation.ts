// Files, processes and rights: what a workload can see, change and become.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Suite } from './suite.ts';

const REFUSED = /^(EROFS|EACCES|EPERM|ENOENT|ENOTDIR|ENODEV|EIO|EINVAL)$/;

export function isolationBehaviour({ bench, subject, neighbour }: Suite): void {
  test('a workload cannot read or list what is on the host', async () => {
    const { place } = bench();
    const secret = join(place.folder, 'secret.txt');
    writeFileSync(secret, 'the text of the secret', { mode: 0o666 });
    const lists = [place.folder, join(place.folder, 'volumes'), '/home', '/root', '/mnt', '/media', '/srv'];
    // Outside all of these can be opened, so the walls are what refuses.
    for (const path of [secret]) assert.ok(readFileSync(path).length > 0, path);
    const seen = await subject().run(
      ({ fs, code }, secretPath, folders) => ({
        direct: code(() => fs.readFileSync(secretPath)),
        throughRoot: code(() => fs.readFileSync(`/proc/1/root${secretPath}`)),
        throughParent: code(() => fs.readFileSync(`/proc/${process.ppid}/root${secretPath}`)),
        throughCwd: code(() => fs.readFileSync(`/proc/1/cwd/../../../..${secretPath}`)),
        shadow: code(() => fs.readFileSync('/etc/shadow')),
        memory: code(() => fs.readFileSync('/dev/mem')),
        core: code(() => fs.readSync(fs.openSync('/proc/kcore', 'r'), Buffer.alloc(8))),
        terminal: code(() => fs.openSync('/dev/tty', 'r+')),
        lists: folders.map((folder) => {
          try {
            return fs.readdirSync(folder).length === 0 ? 'empty' : `${folder}: ${fs.readdirSync(folder).join(' ')}`;
          } catch {
            return 'refused';
          }
        }),
      }),
      secret,
      lists,
    );
    const { lists: listed, ...reads } = seen;
    for (const [what, outcome] of Object.entries(reads)) assert.notEqual(outcome, 'done', what);
    for (const outcome of listed) assert.match(outcome, /^(empty|refused)$/);
  });

  test('a workload cannot write to its package, its programs or the system', async () => {
    const seen = await subject().run(({ fs, code }) => {
      const entry = process.argv[1] ?? '';
      const parent = entry.slice(0, entry.lastIndexOf('/'));
      const paths = [
        ...[entry, `${parent}/x`, process.execPath, '/x', '/usr/x', '/usr/bin/x', '/etc/passwd', '/etc/x', '/run/x'],
        ...['/lib/x', '/opt/x', '/opt/platform/bootstrap.mjs', '/proc/sys/kernel/core_pattern', '/proc/sysrq-trigger'],
        ...['/proc/sys/kernel/hostname', '/proc/sys/vm/overcommit_memory', '/sys/kernel/uevent_helper', '/sys/x'],
      ];
      return paths.map((path) => [path, code(() => fs.writeFileSync(path, 'x'))] as const);
    });
    for (const [path, outcome] of seen) assert.match(outcome, REFUSED, path);
  });

  test('a workload writes to its volume and its scratch, and its neighbour finds nothing there', async () => {
    const write = ({ fs, os }: { fs: typeof import('node:fs'); os: typeof import('node:os') }) => {
      const volume = process.env.PLATFORM_VOLUME_DIR ?? '';
      for (const folder of [volume, os.tmpdir()]) fs.writeFileSync(`${folder}/mine`, 'mine');
      return [fs.readdirSync(volume).includes('mine'), fs.readdirSync(os.tmpdir()).includes('mine')];
    };
    assert.deepEqual(await subject().run(write), [true, true]);
    const there = await neighbour().run(({ fs, os }) =>
      [process.env.PLATFORM_VOLUME_DIR ?? '', os.tmpdir()].flatMap((folder) => fs.readdirSync(folder)),
    );
    assert.deepEqual(
      there.filter((name) => name === 'mine'),
      [],
    );
  });

  test('a workload has no privileges, and cannot gain any', async () => {
    const seen = await subject().run(({ fs, code, childProcess }) => {
      const status = new Map(
        fs
          .readFileSync('/proc/self/status', 'utf8')
          .split('\n')
          .map((line) => line.split(/:\s+/, 2) as [string, string]),
      );
      return {
        uid: process.getuid?.(),
        groups: process.getgroups?.().filter((group) => group !== process.getgid?.() && group !== 65_534),
        capabilities: ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'].map((name) => status.get(name)),
        noNewPrivileges: status.get('NoNewPrivs'),
        setuid: code(() => process.setuid?.(0)),
        setgroups: code(() => process.setgroups?.([0])),
        unshare: childProcess.spawnSync('unshare', ['--user', '--map-root-user', 'true']).status,
        mount: childProcess.spawnSync('mount', ['-t', 'tmpfs', 'none', '/tmp']).status,
      };
    });
    assert.notEqual(seen.uid, 0);
    assert.deepEqual(seen.groups, []);
    for (const set of seen.capabilities) assert.match(set ?? '', /^0+$/);
    assert.equal(seen.noNewPrivileges, '1');
    for (const outcome of [seen.setuid, seen.setgroups]) assert.match(outcome, /^(EPERM|EINVAL)$/);
    for (const outcome of [seen.unshare, seen.mount]) assert.notEqual(outcome, 0);
  });

  test('a workload sees only its own processes, and signals no other', async () => {
    const seen = await subject().run(
      ({ fs, code }, hostPid) => ({
        programs: fs
          .readdirSync('/proc')
          .filter((name) => /^\d+$/.test(name))
          .map((pid) => fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8')),
        killHost: code(() => process.kill(hostPid, 'SIGKILL')),
        killAll: code(() => process.kill(1, 'SIGSTOP')),
      }),
      process.pid,
    );
    const hostProgram = readFileSync('/proc/self/cmdline', 'utf8');
    assert.equal(seen.programs.includes(hostProgram), false);
    // Anything else inside belongs to its own namespace or guest.
    assert.match(seen.killHost, /^(ESRCH|EPERM)$/);
    assert.equal(await neighbour().run(() => 'alive'), 'alive');
  });

  test('links and devices that a workload leaves in its volume lead the host nowhere', async () => {
    const { place } = bench();
    const outside = join(place.folder, 'outside');
    mkdirSync(outside, { recursive: true });
    writeFileSync(join(outside, 'kept'), 'kept');
    const seen = await subject().run(({ fs, code, childProcess }, target) => {
      const volume = process.env.PLATFORM_VOLUME_DIR ?? '';
      fs.symlinkSync(target, `${volume}/link`);
      return {
        through: code(() => fs.writeFileSync(`${volume}/link/x`, 'x')),
        device: childProcess.spawnSync('mknod', [`${volume}/disk`, 'b', '8', '0']).status,
        hard: code(() => fs.linkSync('/etc/passwd', `${volume}/passwd`)),
      };
    }, outside);
    assert.notEqual(seen.through, 'done');
    assert.notEqual(seen.device, 0);
    assert.notEqual(seen.hard, 'done');
    assert.equal(existsSync(join(outside, 'x')), false);
  });
}
