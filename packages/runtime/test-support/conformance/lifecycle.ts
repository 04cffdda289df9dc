// How a workload starts, exits and is stopped, what is reported, and that nothing of it is left: one run after another
// of the same installation, with no other on the driver.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Assignment } from '@platform/contract';
import { until } from '../../../../tests/support/wait.ts';
import { StartRefused } from '../../src/drivers/driver.ts';
import { type ConformanceBench, openBench, type Started, type StartRequest } from './bench.ts';
import { type Leftovers, openLeftovers } from './leftovers.ts';
import type { DriverUnderTest } from './under-test.ts';

/** Milliseconds: a guest's clock begins with whole seconds. */
const GUEST_CLOCK = 1_000;

export function lifecycleBehaviour(under: DriverUnderTest): void {
  let bench: ConformanceBench;
  let installation: Assignment;
  let leftovers: Leftovers;
  before(async () => {
    bench = await openBench(under);
    installation = bench.installation({ volume: true });
    await (await bench.start({ installation })).stop(0);
    leftovers = openLeftovers(under, bench, installation.installationId);
  });
  after(async () => {
    await bench?.close();
    bench?.place.remove();
  });
  const start = (request: StartRequest): Promise<Started> => bench.start({ installation, ...request });
  const up = (started: { output(): string }) =>
    until('it to be up', () => started.output().includes('up'), bench.limit(20_000));

  test('a workload runs no code before its Gateway stands, refuses at once when it stops listening, may end in its own way and leaves nothing', async () => {
    let stood = Number.POSITIVE_INFINITY;
    const started = await start({
      source: `const began = Date.now();
        const http = process.getBuiltinModule('node:http');
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
    await leftovers.findsWhatRuns();
    assert.equal(await started.ask('/'), 'last');
    await assert.rejects(started.ask('/'), /upstream_failed|workload_unavailable/);
    const exit = await started.stop();
    assert.deepEqual([exit.code, exit.reason], [3, 'Exited with code 3.']);
    assert.match(started.output(), /bye/);
    await leftovers.nothingLeft();
  });

  test('a workload that crashes leaves its output, its exit code and what Node says, no path of the host, and nothing else', async () => {
    const started = await start({
      source: `console.log('hello'); console.error('oops'); process.on('exit', () => { process.exitCode = 4; }); undeclared();`,
    });
    const exit = await started.ended();
    assert.deepEqual([exit.code, exit.signal, exit.reason], [4, null, 'Exited with code 4.']);
    assert.equal(started.output(), 'hello\n');
    assert.match(started.errors(), /^oops\n.*ReferenceError: undeclared is not defined/s);
    assert.equal(started.errors().includes(bench.place.folder), false);
    assert.equal(await started.instance.listening(AbortSignal.timeout(1_000)), false);
    await leftovers.nothingLeft();
  });

  test('a workload that listens elsewhere is not called listening and its ports are reported; ignoring SIGTERM, it is killed and leaves nothing', async () => {
    const started = await start({
      source: `const http = process.getBuiltinModule('node:http');
        process.on('SIGTERM', () => console.log('no'));
        http.createServer().listen(9999, () => console.log('up'));`,
    });
    await up(started);
    const abort = new AbortController();
    const listening = started.instance.listening(abort.signal);
    // Some drivers detect them a moment later.
    await until('its ports', () => started.instance.ports().length > 0, bench.limit(20_000));
    assert.deepEqual(started.instance.ports(), [9999]);
    abort.abort();
    assert.equal(await listening, false);
    // Long enough for an emulated guest to report its refusal.
    const ending = started.stop(bench.limit(500));
    await until('its refusal', () => started.output().includes('no'), bench.limit(20_000));
    assert.equal((await ending).signal, 'SIGKILL');
    await leftovers.nothingLeft();
  });

  test('a workload whose entry is missing is refused in one sentence', async () => {
    const missing = bench.known(installation.installationId, { volume: true, entry: 'other.mjs' });
    await assert.rejects(start({ installation: missing }), (error) => {
      assert.ok(error instanceof StartRefused);
      assert.match(error.message, /^The package has no file workload\/other\.mjs\b.*\.$/);
      return true;
    });
    await leftovers.nothingLeft();
  });

  test('a start that is given up leaves nothing that runs', async () => {
    const abort = new AbortController();
    const attempt = start({
      source: `console.log('must not run'); setInterval(() => {}, 1000);`,
      abort: abort.signal,
      onGateway: () => abort.abort(),
    });
    await assert.rejects(attempt);
    await leftovers.nothingLeft();
  });
}
