// A Gateway alone in its process, with the settings given as argument.
import { startGateway } from '@platform/gateway';
import { portOf } from '../../packages/gateway/test-support/gateway-under-test.ts';

const [settings = '{}'] = process.argv.slice(2);
const gateway = await startGateway({
  ...JSON.parse(settings),
  listen: { port: 0, host: '127.0.0.1' },
  inbound: { socketPath: '/nonexistent/bench.sock' },
  onActivity: () => undefined,
  log: (event) => console.error(event),
});
console.log(JSON.stringify({ port: portOf(gateway) }));
process.on('SIGTERM', () => void gateway.close().then(() => process.exit()));
