// Prints how many bytes one idle Gateway adds to a process that already runs one. Needs `node --expose-gc`.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type RunningGateway, startGateway } from '@platform/gateway';
import { newEnvelopeKey } from '@platform/link';

const COUNT = 500;
const core = createServer((_req, res) => res.end('{}')).listen(0, '127.0.0.1');
await once(core, 'listening');
const address = core.address();
const port = address !== null && typeof address === 'object' ? address.port : 0;

async function start(): Promise<RunningGateway> {
  return startGateway({
    installationId: 'inst-bench',
    appOrigin: 'http://bench.apps.platform.localhost:8787',
    coreOrigin: `http://127.0.0.1:${port}`,
    coreHost: 'shell.platform.localhost:8787',
    gatewayCredential: 'pgw_bench',
    coreServiceCredential: 'pcs_bench',
    envelopeKey: await newEnvelopeKey(),
    policy: { revision: 0 },
    listen: { port: 0, host: '127.0.0.1' },
    inbound: { socketPath: '/nonexistent/bench.sock' },
    onActivity: () => undefined,
    log: () => undefined,
  });
}

function resident(): number {
  globalThis.gc?.();
  return process.memoryUsage.rss();
}

const warm = await Promise.all(Array.from({ length: 20 }, start));
const before = resident();
const gateways = await Promise.all(Array.from({ length: COUNT }, start));
const after = resident();
console.log(JSON.stringify({ bytes: (after - before) / COUNT }));
await Promise.all([...warm, ...gateways].map((gateway) => gateway.close()));
core.close();
