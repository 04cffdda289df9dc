// A workload that exceeds its limits is held at them or ended with the reason, and no other is affected. Limits that a
// driver reports as unenforceable on this machine are skipped.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstReport } from './bench.ts';
import type { Suite } from './suite.ts';

/** Processor time may be this much over the limit while a period of the kernel's accounting runs. */
const CPU_TOLERANCE = 1.5;

const FORKS = `
  import { spawn } from 'node:child_process';
  const starts = Array.from({ length: 100 }, () => new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', 'sleep 1000 & sleep 1000'], { detached: true, stdio: 'ignore' });
    child.once('spawn', () => resolve('ok'));
    child.once('error', (error) => resolve(error.code));
  }));
  const outcomes = await Promise.all(starts);
  console.log(JSON.stringify({ ok: outcomes.filter((one) => one === 'ok').length, codes: [...new Set(outcomes)] }));`;

/** Writes to connections of its own that are never read, until the kernel takes nothing more for a while. */
const CONNECTIONS = `
  import { createServer, connect } from 'node:net';
  const server = createServer({ pauseOnConnect: true }, () => undefined).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const piece = Buffer.alloc(256 * 1024);
  const sockets = Array.from({ length: 200 }, () => {
    const socket = connect(server.address().port, '127.0.0.1').on('error', () => undefined);
    const write = () => { while (socket.write(piece)); };
    socket.on('connect', write).on('drain', write);
    return socket;
  });
  const taken = () => sockets.reduce((sum, one) => sum + one.bytesWritten - one.writableLength, 0);
  for (let quiet = 0, before = -1; quiet < 20;) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    const now = taken();
    quiet = now === before ? quiet + 1 : 0;
    before = now;
  }
  console.log(JSON.stringify({ taken: taken() }));
  setInterval(() => {}, 1000);`;

export function limitsBehaviour({ under, bench, neighbour }: Suite): void {
  const enforced = (limit: 'memory' | 'cpus' | 'pids' | 'sockets') => bench().driver.report.limits[limit] !== false;
  const unharmed = async () => assert.equal(await neighbour().run(() => 'unharmed'), 'unharmed');

  // One workload for both, since some drivers need seconds to start one.
  test('that forks without end is held at its number of processes, and ended when it takes too much memory', async (t) => {
    const [isHeld, isEnded] = [enforced('pids'), enforced('memory')];
    if (!isHeld && !isEnded) return t.skip('neither is enforced here, and the driver says so');
    const started = await bench().start({
      workload: { resources: { pids: 32 } },
      source: `${isHeld ? FORKS : ''}
        ${isEnded ? 'const all = []; for (;;) all.push(Buffer.alloc(8 * 1024 * 1024, 1));' : 'setInterval(() => {}, 1000);'}`,
    });
    if (isHeld) {
      const { ok, codes } = await firstReport<{ ok: number; codes: string[] }>(started, bench().limit(20_000));
      assert.ok(ok < 32, `${ok} children started`);
      assert.ok(codes.includes('EAGAIN'), codes.join());
    } else t.diagnostic('the number of processes is not enforced here, and the driver says so');
    if (isEnded) {
      const exit = await started.ended();
      assert.equal(exit.reason, 'Exceeded its memory limit of 128 MiB and was killed.');
    } else {
      t.diagnostic('memory is not enforced here, and the driver says so');
      await started.stop(100);
    }
    await unharmed();
  });

  test('that fills connections without end is held to its memory, which the kernel keeps for it', async (t) => {
    if (!enforced('sockets')) return t.skip('buffers of connections are not limited here, and the driver says so');
    const memoryMiB = 128;
    const started = await bench().start({ workload: { resources: { memoryMiB } }, source: CONNECTIONS });
    const { taken } = await firstReport<{ taken: number }>(started, bench().limit(20_000));
    await started.stop(100);
    assert.ok(taken < memoryMiB * 2 ** 20, `the kernel took ${Math.round(taken / 2 ** 20)} MiB that nobody reads`);
    await unharmed();
  });

  // A guest does not see the time that it does not get.
  if (under.can.cpuTimeSeenInside) {
    test('that uses every processor gets its share of time', async (t) => {
      if (!enforced('cpus')) return t.skip('processor time is not enforced here, and the driver says so');
      const cpus = 0.5;
      const started = await bench().start({
        workload: { resources: { cpus } },
        source: `
        import { Worker } from 'node:worker_threads';
        const burn = 'const end = performance.now() + 1500; while (performance.now() < end);';
        const before = process.cpuUsage();
        const begun = performance.now();
        await Promise.all([1, 2].map(() => new Promise((resolve) => new Worker(burn, { eval: true }).once('exit', resolve))));
        const { user, system } = process.cpuUsage(before);
        console.log(JSON.stringify({ share: (user + system) / 1000 / (performance.now() - begun) }));`,
      });
      const { share } = await firstReport<{ share: number }>(started, bench().limit(30_000));
      await started.ended();
      assert.ok(share < cpus * CPU_TOLERANCE, `it got ${share.toFixed(2)} processors of ${cpus}`);
    });
  }

  test('that fills its scratch and its volume is stopped by their sizes, and ended when it fills its JavaScript heap, with a reason that names memory', async (t) => {
    const installation = bench().installation({ volume: true, resources: { diskMiB: 24 } });
    const unlimited = bench().unlimitedVolume(installation);
    const started = await bench().start({ installation });
    await started.listens();
    const fill = (place: 'scratch' | 'volume') =>
      started.run(({ fs, os }, where) => {
        const path = `${where === 'scratch' ? os.tmpdir() : process.env.PLATFORM_VOLUME_DIR}/fill`;
        const file = fs.openSync(path, 'w');
        const block = Buffer.alloc(1024 * 1024, 1);
        let written = 0;
        let code = 'never full';
        try {
          for (; written < 512; written += 1) fs.writeSync(file, block);
          fs.fsyncSync(file);
        } catch (error) {
          code = (error as NodeJS.ErrnoException).code ?? 'unknown';
        }
        fs.closeSync(file);
        fs.rmSync(path);
        fs.writeFileSync(path, 'there is room again');
        return { written, code, again: fs.readFileSync(path, 'utf8') };
      }, place);
    const scratch = await fill('scratch');
    assert.match(scratch.code, /^(ENOSPC|EDQUOT)$/);
    assert.ok(scratch.written <= 128, `${scratch.written} MiB`);
    if (unlimited === undefined) {
      const volume = await fill('volume');
      assert.match(volume.code, /^(ENOSPC|EDQUOT)$/);
      assert.ok(volume.written <= 24, `${volume.written} MiB`);
      assert.equal(volume.again, 'there is room again');
    } else t.diagnostic(`the size of a volume is not enforced here: ${unlimited}`);
    await unharmed();

    const filling = started.run(() => {
      const all: number[][] = [];
      for (;;) all.push(new Array(1_000).fill(Math.random()));
    });
    filling.catch(() => 'it has no answer, since it ends');
    const exit = await started.ended();
    assert.match(exit.reason, /memory/);
    assert.notEqual(exit.code, 0);
  });
}
