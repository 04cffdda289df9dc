// A Gateway in front of the store given as argument, alone in its process but for a scripted core, which it asks once a
// minute.
import { startGatewayToStore } from '../../packages/gateway/test-support/storage-under-test.ts';

const [store = '{}'] = process.argv.slice(2);
const { port, close } = await startGatewayToStore(JSON.parse(store));
console.log(JSON.stringify({ port }));
process.on('SIGTERM', () => void close().then(() => process.exit()));
