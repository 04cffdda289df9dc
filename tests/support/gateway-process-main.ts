// The process of gateway-process.ts: reads its place from standard input, starts the Gateway and reports that.
import { createInterface } from 'node:readline';
import { type GatewayPlace, openGateway } from './app-gateway.ts';

createInterface({ input: process.stdin })
  .once('line', (line) => void start(JSON.parse(line) as GatewayPlace))
  .once('close', () => process.exit(0));

async function start(place: GatewayPlace): Promise<void> {
  await openGateway(place);
  process.stdout.write('listening\n');
}
