// The object store of the platform under attack, in a process of its own, so that it does not hold up who measures.
import { startFakeStore } from '../../../packages/gateway/test-support/fake-store.ts';

const store = await startFakeStore(process.env.BENCH_BUCKET ?? '');
// It keeps every request for tests; here nobody asks for them.
setInterval(() => {
  store.seen.length = 0;
}, 100);
// Its starter has ended.
process.stdin.resume().on('end', () => process.exit());
console.log(JSON.stringify({ origin: store.origin }));
