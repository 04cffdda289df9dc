// Finding a place for control groups on the machines there are, and using it where this machine lets us.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { isRoot } from '../../../test-support/sandboxes.ts';
import { openCgroups } from './cgroup.ts';
import { ancestry, cgroupMounts } from './cgroup-places.ts';

const files = (memberships: string, mountinfo: string) => (path: string) =>
  path === '/proc/self/cgroup' ? memberships : mountinfo;

describe('the place of this process in its control groups', () => {
  test('is found on a machine with version 2', () => {
    const [mount, ...none] = cgroupMounts(
      files(
        '0::/user.slice/user-0.slice/session-3.scope\n',
        '30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n',
      ),
    );
    assert.deepEqual(none, []);
    assert.deepEqual(mount, {
      version: 2,
      controllers: [],
      mountPoint: '/sys/fs/cgroup',
      own: '/sys/fs/cgroup/user.slice/user-0.slice/session-3.scope',
    });
    assert.deepEqual(mount && ancestry(mount), [
      '/sys/fs/cgroup/user.slice/user-0.slice/session-3.scope',
      '/sys/fs/cgroup/user.slice/user-0.slice',
      '/sys/fs/cgroup/user.slice',
      '/sys/fs/cgroup',
    ]);
  });

  test('is found on a machine with both, controllers together on one hierarchy included', () => {
    const mounts = cgroupMounts(
      files(
        '5:cpu,cpuacct:/a\n4:memory:/b\n0::/c\n',
        [
          '31 25 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw',
          '33 25 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct',
          '34 25 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory',
        ].join('\n'),
      ),
    );
    assert.deepEqual(
      mounts.map((mount) => mount.own),
      ['/sys/fs/cgroup/unified/c', '/sys/fs/cgroup/cpu,cpuacct/a', '/sys/fs/cgroup/memory/b'],
    );
  });

  test('is found in a container that sees only its own part', () => {
    const [mount] = cgroupMounts(
      files('4:memory:/docker/abc\n', '34 25 0:30 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n'),
    );
    assert.equal(mount?.own, '/sys/fs/cgroup/memory');
  });

  test('is not claimed where the mount does not show it', () => {
    assert.deepEqual(
      cgroupMounts(files('0::/../../other\n', '30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n')).map(
        (mount) => mount.own,
      ),
      [],
    );
  });
});

describe('limits of version 2', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pt-cgroup-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('are written where an ancestor passes its controllers on', () => {
    // Ordinary folders stand for the kernel's; what the kernel does with the files is not the question here.
    const own = join(folder, 'slice', 'scope');
    mkdirSync(own, { recursive: true });
    writeFileSync(join(folder, 'slice', 'cgroup.subtree_control'), 'cpu memory pids');
    mkdirSync(join(folder, 'slice', 'platform'));
    writeFileSync(join(folder, 'slice', 'platform', 'cgroup.subtree_control'), 'cpu memory pids');
    const cgroups = openCgroups('platform', [{ version: 2, controllers: [], mountPoint: folder, own }]);
    assert.deepEqual([...cgroups.enforced].sort(), ['cpu', 'memory', 'pids']);
    cgroups.create('one', { memoryMiB: 64, cpus: 0.5, pids: 10 });
    const value = (name: string) => readFileSync(join(folder, 'slice', 'platform', 'one', name), 'utf8');
    assert.equal(value('memory.max'), String(64 * 1024 * 1024));
    assert.equal(value('memory.swap.max'), '0');
    assert.equal(value('memory.oom.group'), '1');
    assert.equal(value('pids.max'), '10');
    assert.equal(value('cpu.max'), '50000 100000');
  });
});

describe('control groups of this machine', { skip: !isRoot && 'an ordinary user may not make them here' }, () => {
  test('hold a process, count it, and end it with its folder', async () => {
    const cgroups = openCgroups(`platform-test-${process.pid}`);
    const group = cgroups.create('one', { memoryMiB: 64, cpus: 1, pids: 10 });
    const child = spawn(
      '/bin/sh',
      ['-c', 'for f do echo 0 > "$f"; done; echo in; sleep 1000', 'sh', ...group.entrances],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const exited = once(child, 'exit');
    await once(child.stdout, 'data');
    for (const file of group.entrances)
      assert.ok(readFileSync(file, 'utf8').split('\n').includes(String(child.pid)), file);
    assert.equal(group.memoryKills(), 0);
    await group.remove();
    assert.deepEqual(await exited, [null, 'SIGKILL']);
    for (const file of group.entrances) assert.equal(existsSync(file), false);
    cgroups.close();
    for (const file of group.entrances) assert.equal(existsSync(join(file, '..', '..')), false);
  });
});
