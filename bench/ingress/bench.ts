// Public requests through Ingress, public side and Gateway to a workload that answers at once, beside nginx, HAProxy and
// Caddy as proxies to the same workload, each on the same core; thousands of WebSockets; and what slow clients do to others.
// `PLATFORM_BENCH_INGRESS=requests,sockets,slow` chooses parts, `PLATFORM_BENCH_INGRESS_SMALL=1` takes shorter rounds.
import { Bed } from './bed.ts';
import { compareRequests } from './requests.ts';
import { startSlowClientsBench } from './slow-clients.ts';
import { compareSockets } from './sockets.ts';

const { PLATFORM_BENCH_INGRESS: chosen = 'requests,sockets,slow', PLATFORM_BENCH_INGRESS_SMALL: small } = process.env;
const parts = {
  requests: (bed: Bed) => compareRequests(bed, small === '1' ? { rounds: 2, seconds: 1 } : { rounds: 5, seconds: 2 }),
  sockets: (bed: Bed) => compareSockets(bed, { rounds: small === '1' ? 1 : 3 }),
  slow: () => startSlowClientsBench(small === '1' ? 6 : 12),
};
for (const [name, compare] of Object.entries(parts)) {
  if (!chosen.split(',').includes(name)) continue;
  await using bed = await Bed.make();
  await compare(bed);
}
