// A client of UDP Echo: node client.mjs <host>:<port> <key> [text …]. Sends each text, and prints what comes back.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import dgram from 'node:dgram';
import dns from 'node:dns';
import { once } from 'node:events';
import {
  ANSWER,
  GREETING,
  LEAST_SEALED_BYTES,
  proofOf,
  REQUEST,
  SALT_BYTES,
  SESSION_BYTES,
  seal,
  sessionKeys,
  unseal,
  WELCOME,
  WELCOME_BYTES,
} from './workload/protocol.mjs';

const MILLISECONDS_TO_WAIT = 500;
const ATTEMPTS = 10;

const [address = '', keyText = '', ...texts] = process.argv.slice(2);
const [, host, port] = /^(.+):(\d+)$/.exec(address) ?? [];
const key = Buffer.from(keyText, 'base64url');
if (host === undefined || key.length !== 32) {
  console.error('Usage: node client.mjs <host>:<port> <key> [text …]');
  process.exit(2);
}

/** A name below `localhost` is this machine, which few systems look up. */
const lookup = (name, options, found) =>
  name.endsWith('.localhost') ? found(null, '127.0.0.1', 4) : dns.lookup(name, options, found);
const socket = dgram.createSocket({ type: 'udp4', lookup });
socket.connect(Number(port), host);
await once(socket, 'connect');
// Nothing listens there yet: as if it was lost.
socket.on('error', () => undefined);

/** A datagram may get lost, so it is sent again until `isAnswer` finds one. */
async function ask(make, isAnswer) {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    socket.send(make());
    const over = AbortSignal.timeout(MILLISECONDS_TO_WAIT);
    try {
      for (;;) {
        const [datagram] = await once(socket, 'message', { signal: over });
        const found = isAnswer(datagram);
        if (found !== undefined) return found;
      }
    } catch (error) {
      if (error.name !== 'AbortError') throw error;
    }
  }
  console.error(`${address} does not answer. Is the key right, and does the backend run?`);
  process.exit(1);
}

const session = randomBytes(SESSION_BYTES);
const start = Buffer.concat([Buffer.of(GREETING), session]);
const greeting = Buffer.concat([start, proofOf(key, start, 32)]);
const salt = await ask(
  () => greeting,
  (datagram) => {
    if (datagram[0] !== WELCOME || datagram.length !== WELCOME_BYTES) return undefined;
    const head = datagram.subarray(0, 1 + SESSION_BYTES + SALT_BYTES);
    const isOurs = head.subarray(1, 1 + SESSION_BYTES).equals(session);
    const isProven = timingSafeEqual(datagram.subarray(head.length), proofOf(key, head, 16));
    return isOurs && isProven ? head.subarray(1 + SESSION_BYTES) : undefined;
  },
);
const { toServer, toClient } = sessionKeys(key, session, salt);

let counter = 0n;
for (const text of texts.length > 0 ? texts : ['hello']) {
  const payload = Buffer.from(text);
  // Each datagram has a counter of its own, also one that is sent again.
  const next = () => {
    counter += 1n;
    return seal(REQUEST, { session, key: toServer, counter, payload });
  };
  const answer = await ask(next, (datagram) => {
    const isAnswer = datagram[0] === ANSWER && datagram.length >= LEAST_SEALED_BYTES;
    const opened = isAnswer ? unseal(datagram, toClient) : undefined;
    return opened?.payload.equals(payload) ? opened.payload : undefined;
  });
  console.log(answer.toString());
}
socket.close();
