// Packages that do everything wrong, each on a whole node beside a good one: contained, the good one goes on being
// answered, and the reason stands in one sentence in the status or the log.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Assignment } from '@platform/contract';
import { elf } from '../../../../tests/support/elf.ts';
import { until } from '../../../../tests/support/wait.ts';
import { type BadNode, type BadNodeOptions, SERVE, startBadNode } from './bad-node.ts';
import { hostileBehaviour } from './hostile-workload.ts';

export interface BadWorkloadsOptions extends BadNodeOptions {
  /** Names the tests. */
  readonly name: string;
  /**
   * Where it can be read that a workload ran into its limit of processes: in its status where control groups of ours
   * count, and otherwise in its own words. Default: in the status.
   */
  readonly processLimitIn?: 'status' | 'log';
  /** A boot takes seconds of processor time: what one shows already is not shown by another. Default: it is. */
  readonly boots?: 'few';
}

const HOG = 'const all = []; for (;;) all.push(Buffer.alloc(8 * 1024 * 1024, 1));';
const MEMORY = /^Exceeded its memory limit of 64 MiB and was killed\./;
const STILL_STARTING = 'The app’s backend is still starting. Try again in 5 seconds.';

export function badWorkloads({ name, processLimitIn = 'status', boots, ...options }: BadWorkloadsOptions): void {
  describe(`on a node with ${name}, a workload`, () => {
    let bad: BadNode;
    before(async () => {
      bad = await startBadNode(options);
    });
    after(() => bad?.close());

    /** Calls it until its start times out. Each caller gets 503 with Retry-After, and retries join the same start. */
    async function neverAnswers(one: Assignment, said: string = STILL_STARTING): Promise<void> {
      const waiting = () => bad.clock.timers().filter((left) => left === 15_000).length;
      const others = waiting();
      for (const call of ['first', 'second']) {
        const answering = bad.call(one);
        await until(`the ${call} call to wait`, () => waiting() > others, bad.limit);
        if (call === 'first') await bad.line(one, /^up$/);
        bad.clock.advance(15_000);
        const { status, headers, text } = await answering;
        assert.deepEqual([status, headers['retry-after']], [503, '5']);
        assert.equal(JSON.parse(text).detail, said);
      }
      assert.equal(bad.core.starts.get(one.installationId)?.length, 1, 'one start for both');
      bad.clock.advance(30_000);
    }

    test('whose entry is missing fails with that sentence', async () => {
      const one = await bad.assign(SERVE, { entry: 'missing.mjs' });
      const answer = await bad.call(one);
      assert.equal(answer.status, 503);
      const said = await bad.reason(one, /no file/);
      assert.equal(said, 'The package has no file workload/missing.mjs, which its manifest names as entry.');
      await bad.unharmed();
    });

    test('that is an executable for another processor fails with that sentence', async () => {
      const machine = process.arch === 'arm64' ? 'x64' : 'arm64';
      const one = await bad.assign(elf({ machine }), { runtime: 'binary' });
      assert.equal((await bad.call(one)).status, 503);
      await bad.reason(
        one,
        /^workload\/index\.mjs is compiled for \S+, and the processor of this machine is \S+\. Publish/,
      );
      await bad.unharmed();
    });

    if (boots !== 'few') {
      test('that is an executable which the kernel cannot load ends at once, and its status says so', async () => {
        const file = elf();
        // The memory that its first segment takes.
        file.writeBigUInt64LE(1n << 46n, 64 + 40);
        const one = await bad.assign(file, { runtime: 'binary' });
        void bad.call(one);
        await bad.reason(one, /Killed by SIG(SEGV|KILL)\.|Exited with code 12[67]\./);
        await bad.unharmed();
        await bad.stop(one);
      });
    }

    test('that never listens is ended after its time, and its callers do not wait for ever', async () => {
      const one = await bad.assign(`console.log('up'); setInterval(() => {}, 1000);`);
      await neverAnswers(one);
      assert.equal(
        await bad.reason(one, /did not listen/),
        'It did not listen on port 8080 within 60 s. Next attempt in 1 s.',
      );
      await bad.unharmed();
      await bad.stop(one);
    });

    // The conformance suite asks every driver where one listens.
    if (boots !== 'few') {
      test('that listens on the wrong port has the actual port in its status', async () => {
        const one = await bad.assign(
          `const http = process.getBuiltinModule('node:http'); http.createServer().listen(9999, () => console.log('up'));`,
        );
        await neverAnswers(
          one,
          'The backend of the app is not available. It listens on port 9999, and not on port 8080, which is in its environment variable PORT.',
        );
        assert.match(
          await bad.reason(one, /60 s/),
          /^It did not listen on port 8080 within 60 s\. It listens on 9999 instead\./,
        );
        await bad.stop(one);
      });
    }

    test('that exits at once is stopped, and its callers get the reason', async () => {
      const one = await bad.assign('process.exit(0);');
      const answer = await bad.call(one);
      assert.equal(answer.status, 503);
      assert.match(JSON.parse(answer.text).detail, /Exited with code 0\./);
      assert.equal((await bad.statusOf(one)).state, 'stopped');
      await bad.unharmed();
    });

    test('that forks without end is held, and its status names the limit', async (t) => {
      if (bad.runtime.report.limits.pids === false) return t.skip('not enforced here, and the status says so');
      const next =
        boots === 'few' ? `process.once('uncaughtException', ({ code }) => { console.error(code); ${HOG} });` : '';
      const bomb = `import { spawn } from 'node:child_process';
        const more = () => { for (let n = 0; n < 20; n += 1) spawn('/bin/sh', ['-c', 'sleep 1000 & sleep 1000 & sleep 1000'], { stdio: 'ignore' }); setImmediate(more); };
        ${next}
        more();`;
      const one = await bad.assign(bomb, { resources: { pids: 32, memoryMiB: 64 } });
      void bad.call(one);
      const said = await bad.reason(one, boots === 'few' ? MEMORY : /[Ee]xited with code/);
      // Without a control group refused forks are not counted; Node's own error is in the log.
      if (processLimitIn === 'log' || bad.runtime.report.limits.pids === 'rlimit') await bad.line(one, /EAGAIN/);
      else assert.match(said, /^Exited with code \d+ after reaching its limit of 32 processes\./);
      await bad.unharmed();
      await bad.stop(one);
    });

    // Otherwise the one that forks does so in the same boot.
    if (boots !== 'few') {
      test('that takes all memory is ended, and its status says so', async (t) => {
        if (bad.runtime.report.limits.memory === false) return t.skip('not enforced here, and the status says so');
        const one = await bad.assign(HOG, { resources: { memoryMiB: 64 } });
        void bad.call(one);
        await bad.reason(one, MEMORY);
        await bad.unharmed();
        await bad.stop(one);
      });
    }

    // Where processes are emulated too, one that opens more connections than it gets shows the same.
    hostileBehaviour(() => bad, boots === 'few' ? 1 : 4);
  });
}
