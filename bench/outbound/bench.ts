// What an outbound call with a secret takes beside the same call made directly: core decides, opens and seals the secret,
// the Gateway opens it and sends. One call at a time, both ways in turn, over connections that are kept, all in one process.
import { Agent, type Dispatcher } from 'undici';
import { GATEWAY_CREDENTIAL, startOutboundWorld } from '../../tests/support/outbound-world.ts';
import { median, printRow, reported } from '../machine.ts';

const WARM_UP = 300;
const CALLS = 2_000;

const world = await startOutboundWorld();
const direct = new Agent({ connect: { ca: world.upstream.ca }, allowH2: false });
const toGateway = new Agent({ allowH2: false });

async function take(dispatcher: Dispatcher, origin: string, path: string): Promise<number> {
  const started = performance.now();
  const headers = { authorization: `Bearer ${GATEWAY_CREDENTIAL}` };
  const { statusCode, body } = await dispatcher.request({ origin, path, method: 'GET', headers });
  await body.dump();
  if (statusCode !== 200) throw new Error(`${origin} answered ${statusCode}`);
  return performance.now() - started;
}

try {
  const gateway = `http://127.0.0.1:${world.port}`;
  const times = { direct: [] as number[], outbound: [] as number[] };
  for (let index = 0; index < WARM_UP + CALLS; index += 1) {
    const one = await take(direct, world.upstream.origin, '/base/x');
    const other = await take(toGateway, gateway, '/v1/services/outbound/base/x');
    world.upstream.arrived.length = 0;
    if (index < WARM_UP) continue;
    times.direct.push(one);
    times.outbound.push(other);
  }
  const p99 = (all: readonly number[]) => [...all].sort((a, b) => a - b)[Math.floor(all.length * 0.99)] ?? 0;
  printRow(
    reported(
      'outbound call with a secret, added to the direct call over TLS, p50',
      median(times.outbound) - median(times.direct),
      'ms',
    ),
  );
  printRow(reported('the same, p99', p99(times.outbound) - p99(times.direct), 'ms'));
  printRow(reported('the direct call, p50', median(times.direct), 'ms'));
} finally {
  await Promise.all([direct.destroy(), toGateway.destroy()]);
  await world.close();
}
