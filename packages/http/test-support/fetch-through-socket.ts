// `node fetch-through-socket.ts <socket> <url> <CA file> <origin allowed>`: one request by a process that reaches the world
// through a dial socket only. Prints the answer's body, or the name of the error.
import { readFileSync } from 'node:fs';
import { Agent, request } from 'undici';
import { dialerAt } from '../src/dial-socket.ts';
import { dialingConnector } from '../src/dialing-connector.ts';

const [socket = '', url = '', caFile = '', origin = ''] = process.argv.slice(2);
const connect = dialingConnector({ dialer: dialerAt(socket), allow: [origin], ca: readFileSync(caFile, 'utf8') });
const dispatcher = new Agent({ connect });
try {
  const answer = await request(url, { dispatcher });
  process.stdout.write(await answer.body.text());
} catch (error) {
  process.stdout.write(error instanceof Error ? error.name : String(error));
}
await dispatcher.destroy();
