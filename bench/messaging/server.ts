// The real core on a database that is already there, with pairs of accounts that have accepted each other; prints where and as whom.
import { friends, writerOf } from '../../packages/core/test-support/messaging.ts';
import { startConstellation } from '../../tests/support/constellation.ts';
import type { BenchServer, BenchWriter } from './writers.ts';

const PAIRS = 25;

// Rates are lifted as PLATFORM_RATE_LIMITS would: the constellation's are ten million a minute.
const constellation = await startConstellation();
const writers: BenchWriter[] = [];
for (let index = 0; index < PAIRS; index += 1) {
  const one = await writerOf(constellation, `bench-a${index}`);
  const other = await writerOf(constellation, `bench-b${index}`);
  const [id, otherId] = await friends(one, other);
  writers.push({ credential: one.app.credential, conversationId: id, other: 2 * index + 1 });
  writers.push({ credential: other.app.credential, conversationId: otherId, other: 2 * index });
}
const server: BenchServer = { port: constellation.port, host: new URL(constellation.origin).host, writers };
process.stdout.write(`${JSON.stringify(server)}\n`);
process.once('SIGTERM', () => void constellation.close());
