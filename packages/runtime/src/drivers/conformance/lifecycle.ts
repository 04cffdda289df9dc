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

  test('a workload runs no code before its Gateway stands, and one that handles SIGTERM ends in its own way', async () => {
    let stood = Number.POSITIVE_INFINITY;
    const started = await bench().start({
      source: `const began = Date.now();
        process.on('SIGTERM', () => { console.log('bye'); process.exit(3); });
        setInterval(() => {}, 1000);
        console.log('up ' + began);`,
      onGateway: () => {
        stood = Date.now();
      },
    });
    await up(started);
    const ran = Number(/up (\d+)/.exec(started.output())?.[1]);
    assert.ok(ran >= stood - (under.can.ownKernel === true ? GUEST_CLOCK : 0), `${stood - ran} ms before its Gateway`);
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

  test('a workload that ends at once leaves its output and its exit code', async () => {
    const started = await bench().start({
      source: `console.log('hello'); console.error('oops'); process.exitCode = 4;`,
    });
    const exit = await started.ended();
    assert.deepEqual([exit.code, exit.signal, exit.reason], [4, null, 'It ended with exit code 4.']);
    assert.equal(started.output(), 'hello\n');
    assert.equal(started.errors(), 'oops\n');
    assert.equal(await started.instance.listening(AbortSignal.timeout(5_000)), false);
  });

  test('a workload that crashes ends with what Node says about it, and with no path of the host', async () => {
    const started = await bench().start({ source: 'this is not a program' });
    const exit = await started.ended();
    assert.equal(exit.code, 1);
    assert.match(started.errors(), /SyntaxError/);
    assert.equal(started.errors().includes(bench().place.folder), false);
  });

  test('a workload that kills itself is said to have been ended by that signal', async () => {
    const started = await bench().start({ source: `process.kill(process.pid, 'SIGSEGV');` });
    const exit = await started.ended();
    assert.equal(exit.reason, 'It was ended by SIGSEGV.');
  });

  test('a workload that ignores SIGTERM is killed after its grace', async () => {
    const started = await bench().start({
      source: `process.on('SIGTERM', () => console.log('no')); setInterval(() => {}, 1000); console.log('up');`,
    });
    await up(started);
    const ending = started.stop(500);
    await until('its refusal', () => started.output().includes('no'), bench().limit(20_000));
    assert.equal((await ending).signal, 'SIGKILL');
  });

  test('a workload that listens elsewhere is not called listening, and its ports can be told', async () => {
    const started = await bench().start({
      source: `import http from 'node:http'; http.createServer().listen(9999, () => console.log('up'));`,
    });
    await up(started);
    const abort = new AbortController();
    const listening = started.instance.listening(abort.signal);
    // Some drivers hear of them a moment later.
    await until('its ports', () => started.instance.ports().length > 0, bench().limit(20_000));
    assert.deepEqual(started.instance.ports(), [9999]);
    abort.abort();
    assert.equal(await listening, false);
    await started.stop(100);
  });

  test('a workload that stops listening refuses at once instead of letting callers wait', async () => {
    const started = await bench().start({
      source: `
        import http from 'node:http';
        const server = http.createServer((_req, res) => { server.close(); res.writeHead(200, { connection: 'close' }).end('last'); }).listen(Number(process.env.PORT));
        setInterval(() => {}, 1000);`,
    });
    await started.listens();
    assert.equal(await started.ask('/'), 'last');
    await assert.rejects(started.ask('/'), /upstream_failed|workload_unavailable/);
    await started.stop(100);
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
