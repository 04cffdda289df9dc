// What a later start of the same installation finds, and what an earlier one can no longer do. As some drivers need
// seconds for a start, the second run also tests unread output and a workload that kills itself.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../../tests/support/wait.ts';
import type { Started } from './bench.ts';
import type { Suite } from './suite.ts';

const MiB = 1024 * 1024;

export function restartBehaviour({ bench }: Suite): void {
  test('a later start, of another version, finds the volume as it was left and nothing else; what it prints costs no memory of the Runtime, and it is said which signal it killed itself with', async () => {
    const installation = bench().installation({ volume: true });
    const first = await bench().start({ installation });
    await first.listens();
    await first.run(({ fs, os, childProcess }) => {
      const volume = process.env.PLATFORM_VOLUME_DIR ?? '';
      fs.mkdirSync(`${volume}/folder`, { mode: 0o750 });
      fs.writeFileSync(`${volume}/folder/kept`, 'kept', { mode: 0o640 });
      fs.writeFileSync(`${os.tmpdir()}/gone`, 'gone');
      childProcess
        .spawn('/bin/sh', ['-c', 'trap "" TERM HUP; sleep 1000 & sleep 1000'], { detached: true, stdio: 'ignore' })
        .unref();
    });
    const exit = await first.stop();
    assert.equal(exit.code, 3, exit.reason);

    const second = await bench().start({ installation });
    await second.listens();
    const seen = await second.run(({ fs, os }) => {
      const volume = process.env.PLATFORM_VOLUME_DIR ?? '';
      const { mode, uid } = fs.statSync(`${volume}/folder/kept`);
      return {
        text: fs.readFileSync(`${volume}/folder/kept`, 'utf8'),
        mode: (mode & 0o777).toString(8),
        own: uid === process.getuid?.(),
        scratch: fs.readdirSync(os.tmpdir()).filter((name) => name === 'gone'),
        sleepers: fs
          .readdirSync('/proc')
          .filter((name) => /^\d+$/.test(name))
          .filter((pid) => fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('sleep')),
      };
    });
    assert.deepEqual(seen, { text: 'kept', mode: '640', own: true, scratch: [], sleepers: [] });
    await refusesTheCredentialOf(first, second);
    await printsWhatNobodyReads(second);
    second.run(() => process.kill(process.pid, 'SIGSEGV')).catch(() => 'it has no answer, since it ends');
    assert.equal((await second.ended()).reason, 'Killed by SIGSEGV.');
  });

  async function refusesTheCredentialOf(first: Started, second: Started): Promise<void> {
    const { core } = bench();
    const before = core.seen.length;
    const [old, own] = await second.run(
      async ({ gateway }, token) => [
        (await gateway('/v1/services/apps', token)).status,
        (await gateway('/v1/services/apps')).status,
      ],
      first.gatewayCredential,
    );
    assert.deepEqual([old, own], [401, 200]);
    assert.deepEqual(
      core.seen.slice(before).map(({ authorization }) => authorization),
      [`Bearer ${second.coreServiceCredential}`],
    );
  }

  /** That must wait in the workload and not in the Runtime. */
  async function printsWhatNobodyReads({ instance, run }: Started): Promise<void> {
    instance.stdout.pause();
    const before = process.memoryUsage().rss;
    await run(({ fs }) => {
      const line = Buffer.from(`${'x'.repeat(1_023)}\n`);
      let left = 1e5;
      const print = () => {
        left -= 1;
        if (left > 0) fs.write(1, line, print);
      };
      print();
    });
    await until('the pipe to be full', () => instance.stdout.readableLength > 0, bench().limit(20_000));
    assert.ok(instance.stdout.readableLength < MiB);
    assert.ok(process.memoryUsage().rss - before < 64 * MiB);
    instance.stdout.resume();
  }
}
