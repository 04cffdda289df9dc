// Packages that do everything wrong, each on a whole node beside a good one: contained, the good one goes on being
// answered, and the reason stands in one sentence in the status or the log.
import assert from 'node:assert/strict';
import { lstatSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Assignment, InstallationStatus } from '@platform/contract';
import type { RuntimeOptions } from '../../runtime.ts';
import { makeAssignment } from '../../testing/core-double.ts';
import { startTestNode, type TestNode } from '../../testing/node.ts';
import { until } from '../../testing/wait.ts';

export interface BadWorkloadsOptions {
  /** Names the tests. */
  readonly name: string;
  /** How the node chooses its driver. */
  readonly node: Partial<RuntimeOptions>;
  /** As in the conformance suite. Default: 1. */
  readonly timeFactor?: number;
  /**
   * Where it can be read that a workload ran into its limit of processes: in its status where control groups of ours
   * count, and otherwise in its own words. Default: in the status.
   */
  readonly processLimitIn?: 'status' | 'log';
}

/** Serves; everything else is added before it. */
const SERVE = `import http from 'node:http';
http.createServer((req, res) => (globalThis.answer ?? ((_req, out) => out.end('fine')))(req, res)).listen(Number(process.env.PORT));
`;
const MiB = 1024 * 1024;

export function badWorkloads({
  name,
  node: options,
  timeFactor = 1,
  processLimitIn = 'status',
}: BadWorkloadsOptions): void {
  describe(`on a node with ${name}, a workload`, () => {
    let node: TestNode;
    let good: Assignment;
    const assigned: Assignment[] = [];
    const limit = 20_000 * timeFactor;

    const assign = async (source: string, workload: Record<string, unknown> = {}): Promise<Assignment> => {
      const hash = await node.core.publish({ 'index.mjs': source });
      const one = makeAssignment(hash, { workload });
      assigned.push(one);
      node.core.assign([...assigned]);
      const path = `/installations/${one.installationId}/status`;
      await until('the assignment to arrive', async () => (await node.core.control('GET', path)).status === 200, limit);
      return one;
    };
    const statusOf = (one: Assignment) => node.core.status(one.installationId);
    const reason = (one: Assignment, wanted: RegExp) =>
      until(
        `the reason ${wanted}`,
        async () => {
          const status = await statusOf(one);
          return [status.reason, status.lastExit?.reason].find((text) => wanted.test(text ?? ''));
        },
        limit,
      );
    const line = (one: Assignment, wanted: RegExp) =>
      until(
        `the line ${wanted}`,
        async () =>
          (await node.core.logs(one.installationId, '?limit=200')).items.find((item) => wanted.test(item.line)),
        limit,
      );
    const stop = async (one: Assignment): Promise<InstallationStatus> => {
      await node.core.control('POST', `/installations/${one.installationId}/stop`);
      return statusOf(one);
    };
    const unharmed = async () => {
      const begun = performance.now();
      assert.equal((await node.call(good)).text, 'fine');
      assert.ok(performance.now() - begun < 5_000 * timeFactor, 'the good one was kept waiting');
    };

    before(async () => {
      node = await startTestNode(options);
      good = await assign(SERVE);
      await unharmed();
    });
    after(() => node?.close());

    test('whose entry is missing fails with that sentence', async () => {
      const one = await assign(SERVE, { entry: 'missing.mjs' });
      const answer = await node.call(one);
      assert.equal(answer.status, 503);
      const said = await reason(one, /no file/);
      assert.equal(said, 'The package has no file workload/missing.mjs, which its manifest names as entry.');
      await unharmed();
    });

    test('that never listens is ended after its time, and its callers do not wait for ever', async () => {
      const one = await assign(`console.log('up'); setInterval(() => {}, 1000);`);
      const call = node.call(one);
      await line(one, /^up$/);
      node.clock.advance(15_000);
      assert.equal((await call).status, 503);
      node.clock.advance(45_000);
      assert.equal(
        await reason(one, /did not listen/),
        'It did not listen on port 8080 within 60 s. Next attempt in 1 s.',
      );
      await unharmed();
      await stop(one);
    });

    test('that listens on the wrong port is told where it listens', async () => {
      const one = await assign(
        `import http from 'node:http'; http.createServer().listen(9999, () => console.log('up'));`,
      );
      const call = node.call(one);
      await line(one, /^up$/);
      node.clock.advance(60_000);
      assert.match(
        await reason(one, /9999/),
        /^It did not listen on port 8080 within 60 s\. It listens on 9999 instead\./,
      );
      assert.equal((await call).status, 503);
      await stop(one);
    });

    test('that exits at once is stopped, and its callers hear why', async () => {
      const one = await assign('process.exit(0);');
      const answer = await node.call(one);
      assert.equal(answer.status, 503);
      assert.match(JSON.parse(answer.text).detail, /It ended with exit code 0\./);
      assert.equal((await statusOf(one)).state, 'stopped');
      await unharmed();
    });

    test('that forks without end is held, and its status names the limit', async (t) => {
      if (node.runtime.report.limits.pids === false) return t.skip('not enforced here, and the status says so');
      const bomb = `import { spawn } from 'node:child_process';
        const more = () => { for (let n = 0; n < 20; n += 1) spawn('/bin/sh', ['-c', 'sleep 1000 & sleep 1000 & sleep 1000'], { stdio: 'ignore' }); setImmediate(more); };
        more();`;
      const one = await assign(bomb, { resources: { pids: 32 } });
      void node.call(one);
      const said = await reason(one, /exit code/);
      // Without a control group nobody counts what was refused; what Node says of it stands in the log.
      if (processLimitIn === 'log' || node.runtime.report.limits.pids === 'rlimit') await line(one, /EAGAIN/);
      else
        assert.match(said, /^It ended with exit code \d+ after it was refused more processes than its limit of 32\./);
      await unharmed();
      await stop(one);
    });

    test('that takes all memory is ended, and its status says so', async (t) => {
      if (node.runtime.report.limits.memory === false) return t.skip('not enforced here, and the status says so');
      const hog = 'const all = []; for (;;) all.push(Buffer.alloc(8 * 1024 * 1024, 1));';
      const one = await assign(hog, { resources: { memoryMiB: 64 } });
      void node.call(one);
      assert.match(await reason(one, /memory/), /^It used more memory than its limit of 64 MiB and was ended\./);
      await unharmed();
      await stop(one);
    });

    test('that fills its scratch and its volume is stopped by their sizes', async (t) => {
      const fill = `import fs from 'node:fs';
        globalThis.answer = (req, res) => {
          const folder = req.url === '/scratch' ? '/tmp' : process.env.PLATFORM_VOLUME_DIR;
          const block = Buffer.alloc(1024 * 1024, 1);
          const file = fs.openSync(folder + '/fill', 'w');
          let written = 0;
          try { while (written < 200) { fs.writeSync(file, block); written += 1; } res.end('never full'); }
          catch (error) { res.end(error.code + ' ' + written); }
          finally { fs.closeSync(file); fs.rmSync(folder + '/fill'); }
        };
        ${SERVE}`;
      const one = await assign(fill, { volume: true, resources: { memoryMiB: 128, diskMiB: 24 } });
      assert.match((await node.call(one, '/scratch')).text, /^(ENOSPC|EDQUOT) \d+$/);
      const told = (await statusOf(one)).unenforced.some((text) => text.includes('volume'));
      if (told) t.diagnostic('the size of a volume is not enforced here, and the status says so');
      else assert.match((await node.call(one, '/volume')).text, /^(ENOSPC|EDQUOT) \d+$/);
      await unharmed();
      await stop(one);
    });

    test('that floods its log is read no faster than is cheap, and what is left out is counted', async () => {
      const one = await assign(`${SERVE}
        const line = 'x'.repeat(99) + '\\n';
        let left = 40_000;
        const write = () => { while (left > 0) { left -= 1; if (!process.stdout.write(line)) return process.stdout.once('drain', write); } console.error('flood over'); };
        write();`);
      const before = process.memoryUsage().rss;
      assert.equal((await node.call(one)).status, 200);
      await unharmed();
      // On another stream, which may be let through before the last of the flood or counted out with it.
      const said = await line(one, /lines were left out/);
      assert.match(said.line, /^[1-9]\d* lines were left out: more than 1000 lines in a second\.$/);
      assert.equal(said.stream, 'system');
      await stop(one);
      assert.ok(process.memoryUsage().rss - before < 128 * MiB, 'the memory of the Runtime');
      const folder = join(node.place.folder, 'logs');
      for (const file of readdirSync(folder)) assert.ok(statSync(join(folder, file)).size < 10 * MiB, file);
      await unharmed();
    });

    test('that opens 10,000 connections to its Gateway gets some, and nobody else notices', async () => {
      const one = await assign(
        `import { fork } from 'node:child_process';
        import fs from 'node:fs';
        import net from 'node:net';
        const child = \`import net from 'node:net';
          const { hostname, port } = new URL(process.env.PLATFORM_API_URL);
          const kept = [];
          let open = 0;
          let settled = 0;
          const done = () => { settled += 1; if (settled === 2500) process.send('tried'); };
          for (let n = 0; n < 2500; n += 1) {
            const socket = net.connect({ host: hostname, port: Number(port) });
            kept.push(socket);
            socket.once('connect', done);
            socket.on('error', () => {});
            socket.once('close', () => { if (socket.connecting !== false && !socket.remoteAddress) done(); });
          }\`;
        fs.writeFileSync('/tmp/child.mjs', child);
        globalThis.answer = async (_req, res) => {
          await Promise.all([1, 2, 3, 4].map(() => new Promise((resolve) => fork('/tmp/child.mjs').once('message', resolve))));
          res.end('tried');
        };
        ${SERVE}`,
        { resources: { memoryMiB: 512 } },
      );
      const before = readdirSync('/proc/self/fd').length;
      const trying = node.call(one);
      await unharmed();
      assert.equal((await trying).text, 'tried');
      await unharmed();
      const held = readdirSync('/proc/self/fd').length - before;
      assert.ok(held < 1_200, `${held} descriptors are held for it`);
      await stop(one);
      await until('its connections to be given back', () => readdirSync('/proc/self/fd').length <= before, limit);
    });

    test('that answers with something that is not HTTP is answered for, and its log says so', async () => {
      const one = await assign(`import net from 'node:net';
        net.createServer((socket) => socket.on('error', () => {}).end('SSH-2.0-not-http\\r\\n\\r\\n')).listen(Number(process.env.PORT));`);
      const answer = await node.call(one);
      assert.equal(answer.status, 502);
      assert.equal(JSON.parse(answer.text).code, 'upstream_failed');
      const said = await line(one, /no valid HTTP answer/);
      assert.match(said.line, /^A request to it got no valid HTTP answer \(\w+\)\.$/);
      for (let n = 0; n < 20; n += 1) await node.call(one);
      const { items } = await node.core.logs(one.installationId);
      assert.equal(items.filter((item) => /valid HTTP/.test(item.line)).length, 1);
      await unharmed();
      await stop(one);
    });

    test('that ignores SIGTERM is killed, and its log says why', async () => {
      const one = await assign(`process.on('SIGTERM', () => {}); ${SERVE}`);
      assert.equal((await node.call(one)).status, 200);
      const stopping = stop(one);
      await unharmed();
      await stopping;
      const said = await reason(one, /killed/);
      assert.equal(said, 'It did not end within 5 s after it was asked to, and was killed.');
    });

    test('that tampers with the root of its volume harms nothing outside, and finds its volume again', async () => {
      const outside = join(node.place.folder, 'outside');
      writeFileSync(outside, 'outside');
      const one = await assign(
        `import fs from 'node:fs';
        import { spawnSync } from 'node:child_process';
        const volume = process.env.PLATFORM_VOLUME_DIR;
        const code = (action) => { try { action(); return 'done'; } catch (error) { return error.code; } };
        globalThis.answer = (req, res) => {
          if (req.url === '/again') return res.end(fs.readFileSync(volume + '/kept', 'utf8'));
          fs.writeFileSync(volume + '/kept', 'kept');
          const seen = {
            device: spawnSync('mknod', [volume + '/disk', 'b', '8', '0']).status,
            renamed: code(() => fs.renameSync(volume, '/tmp/volume')),
            removed: code(() => fs.rmdirSync(volume)),
            link: code(() => fs.symlinkSync(${JSON.stringify(outside)}, volume + '/link')),
            setuid: code(() => { fs.copyFileSync('/bin/sh', volume + '/sh'); fs.chmodSync(volume + '/sh', 0o6755); }),
          };
          spawnSync('mkfifo', [volume + '/pipe']);
          fs.chmodSync(volume, 0o000);
          fs.chmodSync(volume, 0o4777);
          res.end(JSON.stringify(seen));
        };
        ${SERVE}`,
        { volume: true },
      );
      const seen = JSON.parse((await node.call(one)).text);
      assert.notEqual(seen.device, 0);
      assert.notEqual(seen.renamed, 'done');
      assert.notEqual(seen.removed, 'done');
      await stop(one);
      await node.core.control('POST', `/installations/${one.installationId}/start`);
      assert.equal((await node.call(one, '/again')).text, 'kept');
      assert.equal(readFileSync(outside, 'utf8'), 'outside');
      noDeviceBelow(join(node.place.folder, 'volumes'));
      await unharmed();
      await stop(one);
    });
  });
}

function noDeviceBelow(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const stat = lstatSync(join(folder, entry));
    assert.equal(stat.isBlockDevice() || stat.isCharacterDevice(), false, entry);
  }
}
