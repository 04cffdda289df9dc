// The real core on a database that is already there, with pairs of accounts that have accepted each other; prints where and as whom.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import v8 from 'node:v8';
import vm from 'node:vm';
import pg from 'pg';
import { friends, writerOf } from '../../packages/core/test-support/messaging.ts';
import { startConstellation } from '../../tests/support/constellation.ts';
import type { BenchServer, BenchWriter } from './writers.ts';

const PAIRS = 25;

let statements = 0;
const { query } = pg.Client.prototype;
pg.Client.prototype.query = function counted(this: pg.Client, ...given: unknown[]) {
  statements += 1;
  return Reflect.apply(query, this, given);
} as typeof query;
v8.setFlagsFromString('--expose-gc');
const collectGarbage = vm.runInNewContext('gc') as (options: object) => void;
/** Heap and buffers that something holds, in bytes. */
function held(): number {
  collectGarbage({ execution: 'sync', flavor: 'last-resort' });
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
const state = createServer(({ url }, response) => {
  response.end(String(url === '/held' ? held() : statements));
}).listen(0, '127.0.0.1');
await new Promise((resolve) => state.once('listening', resolve));

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
const server: BenchServer = {
  port: constellation.port,
  host: new URL(constellation.origin).host,
  statePort: (state.address() as AddressInfo).port,
  writers,
};
process.stdout.write(`${JSON.stringify(server)}\n`);
process.once('SIGTERM', () => {
  state.close();
  void constellation.close();
});
