// The public side of a node with apps behind their Gateways, alone in its process: what a public request passes after the
// Ingress. The Runtime around it, which would start the workload, is left out: the workload runs already.
import { startGateway } from '@platform/gateway';
import { newEnvelopeKey } from '@platform/link';
import { collectWhenIdle, releaseStartMemory } from '../../packages/cli/test-support/internals.ts';
import { openPublicSide } from '../../packages/runtime/test-support/internals.ts';

const [socketPath = '', names = '', credential = ''] = process.argv.slice(2);
const log = { debug: () => undefined, info: console.error, warn: console.error, error: console.error };

/** As much of an installation as the public side looks at. */
async function startInstallation(hostname: string) {
  const open = { hostname, routes: ['GET:/*', 'POST:/*', 'WS:/*'] };
  const gateway = await startGateway({
    installationId: 'inst-bench',
    appOrigin: 'http://bench.apps.platform.localhost:8787',
    coreOrigin: 'http://127.0.0.1:9',
    coreHost: 'shell.platform.localhost:8787',
    gatewayCredential: 'pgw_bench-0123456789abcdefghijklmnopqrstuvwxyzABC',
    coreServiceCredential: 'pcs_bench-0123456789abcdefghijklmnopqrstuvwxyzABC',
    envelopeKey: await newEnvelopeKey(),
    policy: { revision: 0, public: open },
    listen: { port: 0, host: '127.0.0.1' },
    inbound: { socketPath },
    onActivity: () => undefined,
    log: (event) => console.error(event),
  });
  return { assignment: { gateway: { public: open } }, gateway };
}

const installations = new Map<string, Awaited<ReturnType<typeof startInstallation>>>();
for (const name of names.split(',')) installations.set(name, await startInstallation(name));
const side = await openPublicSide({
  credential,
  log,
  find: (name) => installations.get(name) as never,
  onWake: () => undefined,
});
console.log(JSON.stringify({ port: Number(new URL(side.registration.url).port) }));
collectWhenIdle();
releaseStartMemory();
process.on('SIGTERM', () => {
  const gateways = [...installations.values()].map(({ gateway }) => gateway.close());
  void Promise.all([side.close(0), ...gateways]).then(() => process.exit());
});
