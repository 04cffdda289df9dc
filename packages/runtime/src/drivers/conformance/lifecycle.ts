// How a workload starts, ends and is ended, and what is said about it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../testing/wait.ts';
import { StartRefused } from '../driver.ts';
import type { Suite } from './suite.ts';

/** Milliseconds: a guest's clock begins with whole seconds. */
const GUEST_CLOCK = 1_000;

export function lifecycleBehaviour({ under, bench, subject }: Suite): void {
  const up = (started: { output(): string }) =>
    until('it to be up', () => started.output().includes('up'), bench().limit(20_000));

  test('a workload runs no code before its Gateway stands, refuses at once when it stops listening, and may end in its own way', async () => {
    let stood = Number.POSITIVE_INFINITY;
    const started = await bench().start({
      source: `const began = Date.now();
        import http from 'node:http';
        process.on('SIGTERM', () => { console.log('bye'); process.exit(3); });
        setInterval(() => {}, 1000);
        const server = http.createServer((_req, res) => { server.close(); res.writeHead(200, { connection: 'close' }).end('last'); });
        server.listen(Number(process.env.PORT));
        console.log('up ' + began);`,
      onGateway: () => {
        stood = Date.now();
      },
    });
    await up(started);
    const ran = Number(/up (\d+)/.exec(started.output())?.[1]);
    assert.ok(ran >= stood - (under.can.ownKernel === true ? GUEST_CLOCK : 0), `${stood - ran} ms before its Gateway`);
    await started.listens();
    assert.equal(await started.ask('/'), 'last');
    await assert.rejects(started.ask('/'), /upstream_failed|workload_unavailable/);
    const exit = await started.stop();
    assert.deepEqual([exit.code, exit.reason], [3, 'It ended with exit code 3.']);
    assert.match(started.output(), /bye/);
  });

  test('a workload is Node as its author knows it: children, workers, memory shared among them', async () => {
    const seen = await subject().run(async ({ childProcess, workerThreads, os, fs }) => {
      fs.writeFileSync(`${os.tmpdir()}/child.mjs`, `process.send('child lives'); process.disconnect();`);
      return {
        forked: await new Promise((resolve) => {
          const child = childProcess.fork(`${os.tmpdir()}/child.mjs`);
          child.once('message', resolve);
          child.once('error', (error) => resolve(String(error)));
        }),
        worker: await new Promise((resolve) => {
          const code = 'require("node:worker_threads").parentPort.postMessage("worker lives")';
          const worker = new workerThreads.Worker(code, { eval: true });
          worker.once('message', resolve);
          worker.once('error', (error) => resolve(String(error)));
        }),
        version: Number(process.versions.node.split('.')[0]),
        channel: typeof process.send,
        execArgv: process.execArgv.filter((argument) => argument.includes('bootstrap')),
      };
    });
    assert.deepEqual(seen, {
      forked: 'child lives',
      worker: 'worker lives',
      version: 24,
      channel: 'undefined',
      execArgv: [],
    });
  });

  test('a workload that crashes leaves its output, its exit code and what Node says, and no path of the host', async () => {
    const started = await bench().start({
      source: `console.log('hello'); console.error('oops'); process.on('exit', () => { process.exitCode = 4; }); undeclared();`,
    });
    const exit = await started.ended();
    assert.deepEqual([exit.code, exit.signal, exit.reason], [4, null, 'It ended with exit code 4.']);
    assert.equal(started.output(), 'hello\n');
    assert.match(started.errors(), /^oops\n.*ReferenceError: undeclared is not defined/s);
    assert.equal(started.errors().includes(bench().place.folder), false);
    assert.equal(await started.instance.listening(AbortSignal.timeout(5_000)), false);
  });

  test('a workload that kills itself is said to have been ended by that signal', async () => {
    const started = await bench().start({ source: `process.kill(process.pid, 'SIGSEGV');` });
    const exit = await started.ended();
    assert.equal(exit.reason, 'It was ended by SIGSEGV.');
  });

  test('a workload that listens elsewhere is not called listening and its ports can be told; ignoring SIGTERM, it is killed', async () => {
    const started = await bench().start({
      source: `import http from 'node:http';
        process.on('SIGTERM', () => console.log('no'));
        http.createServer().listen(9999, () => console.log('up'));`,
    });
    await up(started);
    const abort = new AbortController();
    const listening = started.instance.listening(abort.signal);
    // Some drivers hear of them a moment later.
    await until('its ports', () => started.instance.ports().length > 0, bench().limit(20_000));
    assert.deepEqual(started.instance.ports(), [9999]);
    abort.abort();
    assert.equal(await listening, false);
    // Long enough for an emulated guest to be heard refusing.
    const ending = started.stop(bench().limit(500));
    await until('its refusal', () => started.output().includes('no'), bench().limit(20_000));
    assert.equal((await ending).signal, 'SIGKILL');
  });

  test('a workload whose entry is missing is refused in one sentence', async () => {
    await assert.rejects(bench().start({ workload: { entry: 'other.mjs' } }), (error) => {
      assert.ok(error instanceof StartRefused);
      assert.match(error.message, /^The package has no file workload\/other\.mjs\b.*\.$/);
      return true;
    });
  });

  test('a start that is given up leaves nothing that runs', async () => {
    const abort = new AbortController();
    const attempt = bench().start({
      source: `console.log('must not run'); setInterval(() => {}, 1000);`,
      abort: abort.signal,
      onGateway: () => abort.abort(),
    });
    await assert.rejects(attempt);
  });
}
