// A Gateway alone in a process, so that its memory can be measured: node gateway-process.ts <core origin>.
// Prints its port as one line of JSON and ends with its standard input.
import { startGatewayUnderTest } from './gateway-under-test.ts';

const [coreOrigin] = process.argv.slice(2);
if (coreOrigin === undefined) throw new Error('Name the origin of core.');
const tested = await startGatewayUnderTest(coreOrigin);
console.log(JSON.stringify({ port: tested.port }));
process.stdin.on('end', () => void tested.close()).resume();
