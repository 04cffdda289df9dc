// A Gateway in front of the origin named as argument, alone in its process. The credential is given with the bench.
import { startGateway } from '@platform/gateway';
import { newEnvelopeKey } from '@platform/link';

const [coreOrigin = '', credential = ''] = process.argv.slice(2);
const gateway = await startGateway({
  installationId: 'inst-bench',
  appOrigin: 'http://bench.apps.platform.localhost:8787',
  coreOrigin,
  coreHost: 'shell.platform.localhost:8787',
  gatewayCredential: credential,
  coreServiceCredential: 'pcs_bench-0123456789abcdefghijklmnopqrstuvwxyzABC',
  envelopeKey: await newEnvelopeKey(),
  policy: { revision: 0 },
  listen: { port: 0, host: '127.0.0.1' },
  inbound: { socketPath: '/nonexistent/bench.sock' },
  onActivity: () => undefined,
  log: (event) => console.error(event),
});
const address = gateway.address();
if (address === null || typeof address === 'string') throw new Error('The Gateway has no port.');
console.log(JSON.stringify({ port: address.port }));
process.on('SIGTERM', () => void gateway.close().then(() => process.exit()));
