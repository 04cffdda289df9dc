// Gateways alone in a process, so that what it uses can be measured: node gateway-process.ts <core origin> [how many].
// Prints their ports as one line of JSON and ends with its standard input.
import { startGatewayUnderTest } from './gateway-under-test.ts';

const [coreOrigin, count = '1'] = process.argv.slice(2);
if (coreOrigin === undefined) throw new Error('Name the origin of core.');
const origin = coreOrigin;
const all = await Promise.all(Array.from({ length: Number(count) }, () => startGatewayUnderTest(origin)));
const ports = all.map(({ port }) => port);
console.log(JSON.stringify({ port: ports[0], ports }));
process.stdin.on('end', () => void Promise.all(all.map((tested) => tested.close()))).resume();
