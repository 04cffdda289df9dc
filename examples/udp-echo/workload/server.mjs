// The backend of UDP Echo. Its port is open to the internet, and senders' addresses can be made up. So nothing is answered
// that does not prove that its sender has the key, no answer is longer than what it answers, and what is kept is bounded.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import dgram from 'node:dgram';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import {
  ANSWER,
  GREETING,
  GREETING_BYTES,
  LEAST_SEALED_BYTES,
  MOST_BYTES,
  proofOf,
  REQUEST,
  SALT_BYTES,
  SESSION_BYTES,
  seal,
  sessionKeys,
  unseal,
  WELCOME,
} from './protocol.mjs';

const { PORT, PLATFORM_VOLUME_DIR, PLATFORM_PUBLIC_PORTS_JSON = '[]' } = process.env;
const MOST_SESSIONS = 256;
const QUIET_MILLISECONDS = 5 * 60_000;
/** So far behind the newest one a datagram may arrive; each counts once. */
const WINDOW = 64n;

const file = `${PLATFORM_VOLUME_DIR}/key`;
if (!existsSync(file)) writeFileSync(file, randomBytes(32), { mode: 0o600 });
const key = readFileSync(file);
// Absent until the permission is granted and the operator publishes ports; the platform then starts this anew.
const port = JSON.parse(PLATFORM_PUBLIC_PORTS_JSON).find(({ name }) => name === 'echo') ?? null;

/** By session id, those that were quiet the longest first. */
const sessions = new Map();
const counts = { answered: 0, dropped: 0 };

const udp = dgram.createSocket('udp4');
udp.on('error', console.error);
udp.on('message', (datagram, sender) => {
  const answer = datagram.length <= MOST_BYTES ? answerTo(datagram) : undefined;
  if (answer === undefined) counts.dropped += 1;
  else udp.send(answer, sender.port, sender.address);
});

/** Undefined for everything that deserves none. */
function answerTo(datagram) {
  if (datagram[0] === GREETING && datagram.length === GREETING_BYTES) return welcome(datagram);
  if (datagram[0] === REQUEST && datagram.length >= LEAST_SEALED_BYTES) return echo(datagram);
  return undefined;
}

/** 49 bytes in, 49 out. A recorded greeting that is repeated gets the same welcome, or a session that only the key's holder can use. */
function welcome(datagram) {
  const start = datagram.subarray(0, 1 + SESSION_BYTES);
  if (!timingSafeEqual(datagram.subarray(start.length), proofOf(key, start, 32))) return undefined;
  const session = Buffer.from(start.subarray(1));
  const id = session.toString('hex');
  const known = sessions.get(id);
  const salt = known?.salt ?? randomBytes(SALT_BYTES);
  if (known === undefined) {
    if (sessions.size >= MOST_SESSIONS) sessions.delete(leastUseful());
    const fresh = { session, salt, ...sessionKeys(key, session, salt) };
    sessions.set(id, { ...fresh, isUsed: false, seen: Date.now(), newest: -1n, window: 0n, sent: 0n });
  }
  const head = Buffer.concat([Buffer.of(WELCOME), session, salt]);
  return Buffer.concat([head, proofOf(key, head, 16)]);
}

/** One that was never used, or else the quietest. */
function leastUseful() {
  for (const [id, { isUsed }] of sessions) if (!isUsed) return id;
  return sessions.keys().next().value;
}

function echo(datagram) {
  const id = datagram.toString('hex', 1, 1 + SESSION_BYTES);
  const session = sessions.get(id);
  if (session === undefined || Date.now() - session.seen > QUIET_MILLISECONDS) return undefined;
  const opened = unseal(datagram, session.toServer);
  // Only what is genuine moves the window.
  if (opened === undefined || !isFresh(session, opened.counter)) return undefined;
  session.isUsed = true;
  session.seen = Date.now();
  sessions.delete(id);
  sessions.set(id, session);
  counts.answered += 1;
  const counter = session.sent;
  session.sent += 1n;
  return seal(ANSWER, { session: session.session, key: session.toClient, counter, payload: opened.payload });
}

/** Whether this counter comes for the first time. Bit n of the window stands for the newest one less n. */
function isFresh(session, counter) {
  if (counter > session.newest) {
    const ahead = counter - session.newest;
    session.window = ahead >= WINDOW ? 1n : BigInt.asUintN(Number(WINDOW), session.window << ahead) | 1n;
    session.newest = counter;
    return true;
  }
  const bit = 1n << (session.newest - counter);
  if (session.newest - counter >= WINDOW || (session.window & bit) !== 0n) return false;
  session.window |= bit;
  return true;
}

setInterval(() => {
  for (const [id, { seen }] of sessions) if (Date.now() - seen > QUIET_MILLISECONDS) sessions.delete(id);
}, 60_000).unref();

// Only the page of the owner gets here: this app declares no public routes.
const server = createServer((_request, response) => {
  const now = { port, key: key.toString('base64url'), sessions: sessions.size, ...counts };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(now));
});

if (port !== null) udp.bind(port.containerPort);
server.listen(PORT, () =>
  console.log(`UDP Echo listens on port ${PORT}, and for datagrams on ${port?.containerPort ?? 'none'}.`),
);
process.on('SIGTERM', () => process.exit());
