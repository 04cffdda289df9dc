// An Ingress alone in its process, but for a core of the bench that says where its public names lead.
import { once } from 'node:events';
import { installationId } from '@platform/contract';
import { defaultLimits, startIngress } from '@platform/ingress';
import { keyFromSeed } from '@platform/link';
import { collectWhenIdle, releaseStartMemory } from '../../packages/cli/test-support/internals.ts';
import { portOf } from '../../packages/http/test-support/port-of.ts';
import { CoreStandIn } from '../../packages/ingress/test-support/ingress-under-test.ts';
import { DOMAIN } from './bed.ts';

const [nodePort = '', names = '', credential = '', trusted = '', certificates = '', host = '127.0.0.1'] =
  process.argv.slice(2);
function installationOf(index: number) {
  return installationId.parse(`inst-019a0000-0000-7000-8000-${String(index).padStart(12, '0')}`);
}

const core = new CoreStandIn();
core.server.listen(0, '127.0.0.1');
await once(core.server, 'listening');
const node = { nodeId: 'node-1', name: 'bench', url: `http://127.0.0.1:${nodePort}`, key: null, credential };
core.say(
  { kind: 'nodes', items: [node], gone: [] },
  {
    kind: 'routes',
    items: names.split(',').map((hostname, index) => ({
      hostname,
      installationId: installationOf(index),
      nodeId: 'node-1',
      routes: ['GET:/*', 'POST:/*', 'WS:/*'],
    })),
    gone: [],
  },
);
const ingress = await startIngress({
  coreOrigin: `http://127.0.0.1:${portOf(core.server)}`,
  coreHost: 'core.test:8787',
  key: keyFromSeed(Buffer.alloc(32, 9)),
  listen: { host, port: 0 },
  ...(certificates === ''
    ? {}
    : { tls: { domain: DOMAIN, certificates: { kind: 'files', folder: certificates }, plain: null } }),
  // How often a client may ask is not what is measured; behind a proxy, nor is how much at a time.
  limits: { ...defaultLimits, rate: 1e9, burst: 1e9, ...(trusted === '' ? {} : { concurrency: 1e6 }) },
  trustedProxies: trusted === '' ? [] : [trusted],
  accessLog: 'off',
  log: { debug: () => undefined, info: () => undefined, warn: console.error, error: console.error },
  clock: () => new Date(),
});
const beat = setInterval(() => core.raw('\n'), 10_000);
await ingress.informed;
console.log(JSON.stringify({ port: ingress.port }));
collectWhenIdle();
releaseStartMemory();
process.on('SIGTERM', () => {
  clearInterval(beat);
  void ingress.stop().then(() => process.exit());
});
