// A Runtime that is killed without warning takes workloads without walls with it too, as far as the kernel lets it.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { becoming } from '../../../../../tests/support/elf.ts';
import { until } from '../../../../../tests/support/wait.ts';
import { makePlace, type Place } from '../../../test-support/place.ts';
import { descendants } from '../../../test-support/processes.ts';
import { isRoot, openBench } from '../../../test-support/sandboxes.ts';
import type { Way } from './mechanism.ts';

/** What the sandboxes promise is part of the conformance suite; a process without walls is special to this driver. */
const way: Way = 'none';

/** Has children of its own that try to outlive it: another session, ignored signals, a double fork. */
const SPREADING = `
  import fs from 'node:fs';
  import { spawn } from 'node:child_process';
  process.on('SIGTERM', () => {});
  spawn('/bin/sh', ['-c', 'trap "" TERM HUP; sleep 1000 & sleep 1000'], { detached: true, stdio: 'ignore' }).unref();
  setInterval(() => {}, 1000);
  console.log('up', JSON.stringify(fs.readdirSync('/proc/self/fd').flatMap((name) => { try { return [fs.readlinkSync('/proc/self/fd/' + name)]; } catch { return []; } })));
`;

function startDoomed(
  place: Place,
  mode: 'after' | 'during' | 'executable',
  app = place.workload('spreading', SPREADING),
): { child: ChildProcess; ready: Promise<string> } {
  const script = fileURLToPath(new URL('../../../test-support/doomed.ts', import.meta.url));
  // A descriptor leaked by the parent of the platform, far above those that Node manages.
  const secret = join(place.folder, 'left-open');
  writeFileSync(secret, 'secret');
  const stdio: ('ignore' | 'pipe' | 'inherit' | number)[] = ['ignore', 'pipe', 'inherit'];
  stdio[90] = openSync(secret, 'r');
  const child = spawn(process.execPath, [script, way, place.folder, app, mode], {
    stdio: Array.from(stdio, (entry) => entry ?? 'ignore'),
  });
  let text = '';
  child.stdout?.on('data', (chunk) => {
    text += chunk;
  });
  return {
    child,
    ready: until('the workload to run', () => text.includes('ready') && text.endsWith('\n') && text, 30_000),
  };
}

describe(`when the Runtime is killed, a workload run with ${way}`, () => {
  test('dies with everything it started, and the next Runtime removes its control groups', async (t) => {
    const place = makePlace();
    t.after(() => place.remove());
    const { child, ready } = startDoomed(place, 'after');
    const output = await ready;
    assert.doesNotMatch(output, /left-open/);
    const below = await until('its processes', () => {
      const found = descendants(child.pid ?? 0);
      return found.length >= 4 && found;
    });
    child.kill('SIGKILL');
    await once(child, 'exit');
    // Without namespaces only the control group still holds what has left the process group.
    const bench = await openBench(place.folder, way);
    if (isRoot)
      assert.deepEqual(
        below.filter((one) => one.alive()).map((one) => one.pid),
        [],
      );
    for (const one of below) if (one.alive()) process.kill(one.pid, 'SIGKILL');
    assert.deepEqual(
      groupsOf(bench.host.cgroups.create('trial', { memoryMiB: 64, cpus: 1, pids: 8 }).entrances),
      [['trial']].slice(0, isRoot ? 1 : 0),
    );
    await bench.host.cgroups.removeStale();
    bench.host.cgroups.close();
    assert.deepEqual(mountsBelow(place.folder), []);
    assert.deepEqual(readdirSync(join(place.folder, 'run')), []);
  });

  test('dies with the process beside it where it is an executable', { skip: process.arch !== 'x64' }, async (t) => {
    const place = makePlace();
    t.after(() => place.remove());
    const app = place.workload('none', '');
    const program = join(app, 'server');
    writeFileSync(program, becoming('/bin/sh', ['-c', 'echo up; exec sleep 1000']));
    chmodSync(program, 0o755);
    const { child, ready } = startDoomed(place, 'executable', app);
    await ready;
    const below = descendants(child.pid ?? 0);
    assert.ok(below.length >= 2, `${below.length} processes`);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await until('all of them to be gone', () => below.every((one) => !one.alive()));
    const bench = await openBench(place.folder, way);
    bench.host.cgroups.close();
  });

  test('does not begin to run when that happens during its start', async (t) => {
    const place = makePlace();
    t.after(() => place.remove());
    const { child, ready } = startDoomed(place, 'during');
    await ready;
    const below = descendants(child.pid ?? 0);
    assert.ok(below.length > 0);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await until('all of them to be gone', () => below.every((one) => !one.alive()));
    const bench = await openBench(place.folder, way);
    bench.host.cgroups.close();
  });
});

/** Names of the sandboxes' folders in each hierarchy, each list once. */
function groupsOf(entrances: readonly string[]): string[][] {
  const lists = entrances.map((file) =>
    readdirSync(join(file, '..', '..'), { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [entry.name] : [],
    ),
  );
  return [...new Set(lists.map((list) => JSON.stringify(list)))].map((text) => JSON.parse(text));
}

function mountsBelow(folder: string): string[] {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => line.includes(folder));
}
