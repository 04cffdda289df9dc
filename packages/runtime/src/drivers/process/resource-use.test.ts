// What a workload uses, as the kernel's files say it: control groups of both versions, and processes where there are none.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { until } from '../../../../../tests/support/wait.ts';
import { makePlace } from '../../../test-support/place.ts';
import { isRoot, openBench } from '../../../test-support/sandboxes.ts';
import { readCgroupUse } from './cgroup-use.ts';
import type { Way } from './mechanism.ts';
import { treeUse } from './process-tree.ts';

const MiB = 1024 * 1024;
/** Holds 64 MiB that it has really touched, and has used 300 ms of processor time. */
const HUNGRY = `
  const held = Buffer.alloc(64 * 1024 * 1024, 1);
  while (process.cpuUsage().user < 300_000);
  console.log('fed', held.length);
  setInterval(() => held.fill(2, 0, 1), 1000);
`;

describe('the files of a control group', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pt-use-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  // Ordinary folders stand for the kernel's: the question is how the files are read.
  const group = (name: string, files: Readonly<Record<string, string>>): string => {
    const place = join(folder, name);
    mkdirSync(place);
    for (const [file, text] of Object.entries(files)) writeFileSync(join(place, file), text);
    return place;
  };

  test('of version 2 give time, memory without what can be read again, and the peak', () => {
    const place = group('two', {
      'cpu.stat': 'usage_usec 1234567\nuser_usec 1000000\nsystem_usec 234567\n',
      'memory.current': '50000000\n',
      'memory.stat': 'anon 30000000\nfile 20000000\ninactive_file 15000000\nactive_file 5000000\n',
      'memory.peak': '60000000\n',
    });
    assert.deepEqual(readCgroupUse([{ version: 2, controllers: ['memory', 'cpu', 'pids'], folder: place }]), {
      cpuMilliseconds: 1_235,
      memoryBytes: 35_000_000,
      memoryPeakBytes: 60_000_000,
    });
  });

  test('of version 1 are spread over its hierarchies', () => {
    const memory = group('memory', {
      'memory.usage_in_bytes': '50000000\n',
      'memory.stat': 'cache 1\ninactive_file 7\ntotal_inactive_file 20000000\n',
      'memory.max_usage_in_bytes': '70000000\n',
    });
    const cpu = group('cpu', { 'cpuacct.usage': '2500000000\n' });
    const folders = [
      { version: 1, controllers: ['memory'], folder: memory },
      { version: 1, controllers: ['cpu'], folder: cpu },
    ] as const;
    assert.deepEqual(readCgroupUse(folders), {
      cpuMilliseconds: 2_500,
      memoryBytes: 30_000_000,
      memoryPeakBytes: 70_000_000,
    });
  });

  test('that are not there are unknown, never nought', () => {
    const unknown = { cpuMilliseconds: null, memoryBytes: null, memoryPeakBytes: null };
    assert.deepEqual(readCgroupUse([]), unknown);
    const empty = group('empty', {});
    assert.deepEqual(readCgroupUse([{ version: 2, controllers: ['memory'], folder: empty }]), unknown);
  });
});

test('the processes of a tree are counted together, and one that has ended is unknown', async () => {
  // The shell waits for its child, so the hungry one is a grandchild.
  const child: ChildProcess = spawn('/bin/sh', ['-c', '"$0" -e "$1"; :', process.execPath, HUNGRY], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const { pid, stdout } = child;
  assert.ok(pid !== undefined && stdout !== null);
  await once(stdout, 'data');
  const use = treeUse(pid);
  assert.ok(use !== null && use.cpuMilliseconds >= 300, JSON.stringify(use));
  assert.ok(use.memoryBytes >= 64 * MiB && use.memoryBytes < 512 * MiB, JSON.stringify(use));
  const exited = once(child, 'exit');
  process.kill(-pid, 'SIGKILL');
  await exited;
  assert.equal(treeUse(pid), null);
});

const ways: readonly Way[] = isRoot ? ['bubblewrap', 'unshare'] : ['bubblewrap'];
for (const way of ways) {
  test(`a workload in a sandbox made with ${way} says what it uses`, async () => {
    const place = makePlace();
    const bench = await openBench(place.folder, way);
    const running = await bench.start({ app: place.workload('hungry', HUNGRY) });
    await until('it to have eaten', () => running.output().includes('fed'));
    const use = running.sandbox.use();
    assert.ok(use.cpuMilliseconds !== null && use.cpuMilliseconds >= 250, JSON.stringify(use));
    assert.ok(use.memoryBytes !== null && use.memoryBytes >= 64 * MiB, JSON.stringify(use));
    assert.ok(use.memoryPeakBytes === null || use.memoryPeakBytes >= 64 * MiB, JSON.stringify(use));
    assert.equal(use.publicNetwork, null);
    await running.end(0);
    bench.host.cgroups.close();
    place.remove();
  });
}
