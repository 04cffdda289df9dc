// The backend of Chat Room. Strangers reach its page (`GET /`, `GET /page/*`) and the room (`WS /room`), and nothing else.
// Everything from them is hostile: each has a limit of its own, and what they write goes into pages as text only.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';

const { PORT, PLATFORM_VOLUME_DIR } = process.env;
/** Kept, and shown to everyone who joins. */
const MOST_MESSAGES = 100;
const MOST_PEOPLE = 100;
const MOST_OF_ONE_ADDRESS = 5;
const LONGEST_MESSAGE = 500;
const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,19}$/u;
/** A message every two seconds, five at once. */
const BURST = 5;
const MILLISECONDS_EACH = 2_000;
const MILLISECONDS_TO_JOIN = 10_000;
const MILLISECONDS_BETWEEN_PINGS = 30_000;
/** Waiting for one client; a client that reads more slowly than others write is disconnected. */
const MOST_WAITING_BYTES = 256 * 1024;

const file = `${PLATFORM_VOLUME_DIR}/room.json`;
const room = read() ?? { isOpen: true, messages: [] };
/** Those who have joined, by connection. */
const people = new Map();
/** Addresses of those whom the owner removed, until the backend starts again. */
const removed = new Set();
let saving = Promise.resolve();

const PAGE = {
  '/': ['room.html', 'text/html'],
  '/page/room.js': ['room.js', 'text/javascript'],
  '/page/room.css': ['room.css', 'text/css'],
};
const files = Object.fromEntries(
  Object.entries(PAGE).map(([path, [name, type]]) => [
    path,
    { type, text: readFileSync(new URL(`page/${name}`, import.meta.url)) },
  ]),
);

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url, 'http://self');
  // The public address is an origin of the app's own, so its security fields are the app's to set.
  if (request.method === 'GET' && Object.hasOwn(files, pathname)) {
    const { type, text } = files[pathname];
    const fields = {
      'content-type': `${type}; charset=utf-8`,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache',
    };
    const policy =
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    return response
      .writeHead(200, { ...fields, 'content-security-policy': policy, 'referrer-policy': 'no-referrer' })
      .end(text);
  }
  // The platform passes only what the manifest declares, so the rest is for the owner. Sure is sure.
  const isPublic = request.headers['platform-public'] !== undefined;
  const { status, body } =
    isPublic || pathname !== '/moderate' ? { status: 404, body: {} } : await moderate(request).catch(failed);
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
});

const sockets = new WebSocketServer({ noServer: true, maxPayload: 4_096, perMessageDeflate: false });

server.on('upgrade', (request, socket, head) => {
  // Node has none here any more, and an error without a listener ends the process.
  socket.on('error', () => socket.destroy());
  const refusal = whyNot(request);
  if (refusal !== undefined)
    return void socket.end(`HTTP/1.1 ${refusal}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  sockets.handleUpgrade(request, socket, head, (connection) => enter(connection, addressOf(request)));
});

/** Before anything is agreed on: a refused handshake costs next to nothing. */
function whyNot(request) {
  const { host = '', origin } = request.headers;
  if (new URL(request.url, 'http://self').pathname !== '/room') return '404 Not Found';
  // Browsers name the page that connects. There are no cookies here that another page could misuse; it keeps strangers'
  // pages from sending their visitors into this room. Programs name none, and are held to the same limits.
  if (origin !== undefined && hostnameOf(origin) !== hostnameOf(`http://${host}`)) return '403 Forbidden';
  if (removed.has(addressOf(request))) return '403 Forbidden';
  if (!room.isOpen || sockets.clients.size >= MOST_PEOPLE) return '503 Service Unavailable';
  const mine = [...sockets.clients].filter(({ address }) => address === addressOf(request));
  return mine.length >= MOST_OF_ONE_ADDRESS ? '429 Too Many Requests' : undefined;
}

/** As the Ingress of the platform saw it: the platform alone sets this field on a public request. */
function addressOf({ headers }) {
  return headers['x-forwarded-for'] ?? 'unknown';
}

function hostnameOf(url) {
  return URL.parse(url)?.hostname;
}

function enter(connection, address) {
  connection.address = address;
  let isAlive = true;
  let allowance = BURST;
  let seen = Date.now();
  const late = setTimeout(() => connection.close(4000, 'no name'), MILLISECONDS_TO_JOIN);
  // A connection that was cut answers no ping.
  const beat = setInterval(() => {
    if (!isAlive) return connection.terminate();
    isAlive = false;
    connection.ping();
  }, MILLISECONDS_BETWEEN_PINGS);
  connection.on('pong', () => {
    isAlive = true;
  });
  connection.on('error', () => connection.terminate());
  connection.on('close', () => {
    clearTimeout(late);
    clearInterval(beat);
    if (people.delete(connection)) tell({ people: names() });
  });
  connection.on('message', (data, isBinary) => {
    const { name, text } = isBinary ? {} : (parsed(data) ?? {});
    const person = people.get(connection);
    if (person === undefined) {
      const free = freeName(name);
      if (free === undefined)
        return send(connection, { refused: 'Choose a name of 1 to 20 letters and digits that nobody here has.' });
      clearTimeout(late);
      people.set(connection, { id: randomUUID(), name: free });
      send(connection, { joined: free, messages: room.messages });
      return tell({ people: names() });
    }
    allowance = Math.min(BURST, allowance + (Date.now() - seen) / MILLISECONDS_EACH);
    seen = Date.now();
    if (allowance < 1) return send(connection, { refused: 'That was a lot at once. Wait a moment.' });
    allowance -= 1;
    if (typeof text !== 'string' || text.trim() === '' || text.length > LONGEST_MESSAGE)
      return send(connection, { refused: `A message has 1 to ${LONGEST_MESSAGE} characters.` });
    const message = { id: randomUUID(), name: person.name, text: text.trim(), at: new Date().toISOString() };
    room.messages = [...room.messages, message].slice(-MOST_MESSAGES);
    tell({ message });
    save();
  });
}

/** Undefined for what is not a name, or one that is taken: names that differ in case alone are the same. */
function freeName(name) {
  if (typeof name !== 'string') return undefined;
  const plain = name.normalize('NFKC').trim().replace(/ +/g, ' ');
  const isTaken = names().some((other) => other.toLowerCase() === plain.toLowerCase());
  return NAME.test(plain) && !isTaken ? plain : undefined;
}

function names() {
  return [...people.values()].map(({ name }) => name);
}

function tell(event) {
  for (const connection of people.keys()) send(connection, event);
}

function send(connection, event) {
  if (connection.bufferedAmount > MOST_WAITING_BYTES) connection.terminate();
  else connection.send(JSON.stringify(event));
}

function parsed(data) {
  try {
    return JSON.parse(data.toString());
  } catch {
    return undefined; // like any other message without the right form
  }
}

/** For the page of the owner, which alone gets here. */
async function moderate(request) {
  if (request.method === 'POST') {
    const { deleteMessage, removePerson, isOpen } = JSON.parse((await Array.fromAsync(request)).join(''));
    if (deleteMessage !== undefined) {
      room.messages = room.messages.filter(({ id }) => id !== deleteMessage);
      tell({ deleted: deleteMessage });
    }
    for (const [connection, { id }] of people) {
      if (id !== removePerson) continue;
      removed.add(connection.address);
      for (const other of sockets.clients) if (other.address === connection.address) other.close(4003, 'removed');
    }
    if (typeof isOpen === 'boolean') room.isOpen = isOpen;
    if (!room.isOpen) for (const connection of sockets.clients) connection.close(4001, 'closed');
    await save();
  }
  return { status: 200, body: { ...room, people: [...people.values()], removed: removed.size } };
}

function failed(error) {
  console.error(error);
  return {
    status: 500,
    body: { code: 'internal_error', detail: 'The backend failed on this request. See the app’s log.' },
  };
}

function read() {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** One after the other; a crash costs the last message at most. */
function save() {
  saving = saving
    .then(async () => {
      const draft = await open(`${file}.new`, 'w', 0o600);
      await draft.writeFile(JSON.stringify(room));
      await draft.close();
      await rename(`${file}.new`, file);
    })
    .catch(console.error);
  return saving;
}

server.listen(PORT, () => console.log(`Chat Room listens on port ${PORT}.`));
process.on('SIGTERM', async () => {
  for (const connection of sockets.clients) connection.close(1001, 'restarting');
  await save();
  process.exit();
});
