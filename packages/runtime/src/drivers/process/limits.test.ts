// What happens to a workload that takes too much, ends, or will not end.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { makePlace } from '../../testing/place.ts';
import { descendants } from '../../testing/processes.ts';
import { ask, isRoot, openBench, type SandboxBench } from '../../testing/sandboxes.ts';
import { until } from '../../testing/wait.ts';
import { LaunchError } from '../driver.ts';
import type { Way } from './mechanism.ts';

const ways: readonly Way[] = isRoot ? ['bubblewrap', 'unshare', 'unshare-as-root'] : ['bubblewrap', 'unshare'];
const resources = { memoryMiB: 128, cpus: 1, pids: 32 };

for (const way of ways) {
  describe(`a workload in a sandbox made with ${way}`, () => {
    const place = makePlace();
    let bench: SandboxBench;

    before(async () => {
      bench = await openBench(place.folder, way);
    });
    after(() => {
      bench.host.cgroups.close();
      place.remove();
    });

    test('that forks without end is held at its number of processes, and all of them end with it', async () => {
      const running = await bench.start({
        resources,
        app: place.workload(
          'bomb',
          `
          import { spawn } from 'node:child_process';
          const children = [];
          const starts = [];
          for (let index = 0; index < 100; index += 1) {
            const child = spawn('/bin/sh', ['-c', 'sleep 1000 & sleep 1000'], { detached: true, stdio: 'ignore' });
            starts.push(new Promise((resolve) => { child.once('spawn', () => resolve('ok')); child.once('error', (error) => resolve(error.code)); }));
          }
          const outcomes = await Promise.all(starts);
          console.log(JSON.stringify({ ok: outcomes.filter((one) => one === 'ok').length, codes: [...new Set(outcomes)] }));
          setInterval(() => {}, 1000);
        `,
        ),
      });
      const line = await until('the report', () =>
        running
          .output()
          .split('\n')
          .find((text) => text.startsWith('{')),
      );
      const { ok, codes } = JSON.parse(line);
      assert.ok(ok < 32, `${ok} children started`);
      assert.ok(codes.includes('EAGAIN'), codes.join());
      const inside = descendants(process.pid);
      assert.ok(inside.length > 1);
      await running.end(100);
      await until('all processes to be gone', () => inside.every((one) => !one.alive()));
    });

    test('that ignores SIGTERM is killed after its grace', async () => {
      const running = await bench.start({
        app: place.workload(
          'stubborn',
          `process.on('SIGTERM', () => console.log('no')); setInterval(() => {}, 1000); console.log('up');`,
        ),
      });
      await until('it to be up', () => running.output().includes('up'));
      const ending = running.end(300);
      await until('its refusal', () => running.output().includes('no'));
      assert.equal((await ending).signal, 'SIGKILL');
    });

    test('that handles SIGTERM ends in its own way', async () => {
      const running = await bench.start({
        app: place.workload(
          'polite',
          `process.on('SIGTERM', () => { console.log('bye'); process.exit(3); }); setInterval(() => {}, 1000); console.log('up');`,
        ),
      });
      await until('it to be up', () => running.output().includes('up'));
      const exit = await running.end();
      assert.equal(exit.code, 3);
      assert.match(running.output(), /bye/);
      assert.equal(exit.reason, 'It ended with exit code 3.');
    });

    test('that ends at once leaves its output and its exit code', async () => {
      const running = await bench.start({
        app: place.workload('short', `console.log('hello'); console.error('oops'); process.exitCode = 4;`),
      });
      const exit = await running.ended();
      assert.equal(exit.code, 4);
      assert.equal(running.output(), 'hello\n');
      assert.equal(running.errors(), 'oops\n');
      assert.equal(await running.sandbox.listening(AbortSignal.timeout(5_000)), false);
    });

    test('whose code does not even parse ends with what Node says about it', async () => {
      const running = await bench.start({ app: place.workload('broken', 'this is not a program') });
      const exit = await running.ended();
      assert.equal(exit.code, 1);
      assert.match(running.errors(), /SyntaxError/);
      assert.doesNotMatch(running.errors(), new RegExp(place.folder));
    });

    test('that fills its JavaScript heap ends, and the reason names memory', async () => {
      const running = await bench.start({
        resources,
        app: place.workload('heap', 'const all = []; for (;;) all.push(new Array(1000).fill(Math.random()));'),
      });
      const exit = await running.ended();
      assert.match(exit.reason, /memory/);
      assert.notEqual(exit.code, 0);
    });

    test('that takes memory outside of the heap is ended by its limit', {
      skip: !isRoot && 'control groups need root here',
    }, async () => {
      const running = await bench.start({
        resources,
        app: place.workload('hog', 'const all = []; for (;;) all.push(Buffer.alloc(8 * 1024 * 1024, 1));'),
      });
      const exit = await running.ended();
      assert.equal(exit.reason, 'It used more memory than its limit of 128 MiB and was ended.');
    });

    test('that listens elsewhere is not called listening, and its ports can be told', async () => {
      const running = await bench.start({
        app: place.workload(
          'elsewhere',
          `import http from 'node:http'; http.createServer().listen(9999, () => console.log('up'));`,
        ),
      });
      await until('it to be up', () => running.output().includes('up'));
      const abort = new AbortController();
      const listening = running.sandbox.listening(abort.signal);
      assert.ok(running.sandbox.ports().includes(9999));
      abort.abort();
      assert.equal(await listening, false);
      await running.end();
    });

    test('that stops listening refuses at once instead of letting callers wait', async () => {
      const running = await bench.start({
        app: place.workload(
          'closer',
          `
          import http from 'node:http';
          const server = http.createServer((_req, res) => { server.close(); res.end('last'); }).listen(8080);
          setInterval(() => {}, 1000);`,
        ),
      });
      assert.equal(await running.sandbox.listening(AbortSignal.timeout(20_000)), true);
      assert.equal(await ask(running.sandbox), 'last');
      await assert.rejects(ask(running.sandbox));
      await running.end();
    });

    test('that is given up while it starts leaves nothing', async () => {
      const abort = new AbortController();
      await assert.rejects(
        bench.start({
          app: place.workload('never', 'setInterval(() => {}, 1000);'),
          abort: abort.signal,
          attachGateway: async () => abort.abort(),
        }),
        LaunchError,
      );
      assert.deepEqual(
        descendants(process.pid).filter((one) => one.alive()),
        [],
      );
    });

    test('leaves no control group, no socket and no descriptor behind', async () => {
      const before = readdirSync('/proc/self/fd').length;
      for (let round = 0; round < 3; round += 1) {
        const running = await bench.start({ app: place.workload('quick', 'console.log(1)') });
        await running.ended();
      }
      await until('descriptors to be closed', () => readdirSync('/proc/self/fd').length <= before);
      const { entrances, remove } = bench.host.cgroups.create('trial', resources);
      const groups = entrances.map((file) =>
        readdirSync(file.replace(/\/trial\/cgroup\.procs$/, ''), { withFileTypes: true }),
      );
      await remove();
      for (const group of groups) {
        assert.deepEqual(
          group.filter((entry) => entry.isDirectory()).map((entry) => entry.name),
          ['trial'],
        );
      }
      assert.deepEqual(readdirSync(bench.host.files.run), []);
    });
  });
}
