// The backend of Webhook Inbox. Strangers reach `POST /hooks/<sender>` and nothing else; they are believed by their signature,
// which is that of https://www.standardwebhooks.com: HMAC-SHA256 of `<id>.<timestamp>.<body>`.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { createServer } from 'node:http';
import { PlatformServicesClient } from './platform-sdk.mjs';

const { PORT, PLATFORM_VOLUME_DIR } = process.env;
const MOST_BYTES = 256 * 1024;
/** How far the sender's clock may differ; a recorded request is refused later. */
const WINDOW_SECONDS = 300;
/** So many deliveries are kept with their content, and so many ids, by which one that is sent again is recognised. */
const MOST_KEPT = 50;
const MOST_IDS = 5_000;

const platform = PlatformServicesClient.fromEnv();
const file = `${PLATFORM_VOLUME_DIR}/inbox.json`;
const inbox = read() ?? { secret: newSecret(), address: '', deliveries: [], ids: [] };
const ids = new Set(inbox.ids);
/** What was refused since the start: shown while a sender is set up. */
const refused = { count: 0, last: null };
let saving = Promise.resolve();
await save();

async function handle(request) {
  const [, place, sender = ''] = new URL(request.url, 'http://self').pathname.split('/');
  if (place === 'hooks' && request.method === 'POST') return deliver(request, sender);
  // The platform passes only what the manifest declares, so this is for its owner. Sure is sure.
  if (request.headers['platform-public'] !== undefined) return problem(404, 'not_found', 'There is nothing here.');
  return forOwner(request, place);
}

async function deliver(request, sender) {
  if (!/^[a-z0-9-]{1,40}$/.test(sender))
    return refuse(404, 'The address ends with a name for the sender: a-z, 0-9 and -.');
  // Exactly the bytes that were signed: parsed and written again, JSON is another text.
  const body = await bodyOf(request);
  if (body === null) return refuse(413, `A webhook has at most ${MOST_BYTES / 1024} KiB.`);
  const {
    'webhook-id': id = '',
    'webhook-timestamp': timestamp = '',
    'webhook-signature': signatures = '',
  } = request.headers;
  if (!/^[\x21-\x7e]{1,128}$/.test(id) || !/^\d{1,12}$/.test(timestamp))
    return refuse(400, 'webhook-id or webhook-timestamp is missing.');
  // The signature first: a stranger learns nothing about clocks or known ids.
  if (!isSigned(`${id}.${timestamp}.`, body, signatures)) return refuse(401, 'The signature does not match.');
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > WINDOW_SECONDS)
    return refuse(401, 'The timestamp is too far from now.');
  const isNew = !ids.has(id);
  if (isNew) {
    ids.add(id);
    if (ids.size > MOST_IDS) ids.delete(ids.values().next().value);
    inbox.deliveries.unshift({
      id,
      sender,
      at: new Date().toISOString(),
      type: request.headers['content-type'] ?? '',
      body: body.toString(),
    });
    inbox.deliveries.length = Math.min(inbox.deliveries.length, MOST_KEPT);
  }
  // The sender repeats what is not answered, so the answer says: this is on disk.
  await save();
  // With the same key the platform shows it once, also when it is delivered again because an answer was lost.
  const notification = { topic: 'deliveries', title: `Webhook from ${sender}`, body: firstLine(body), dedupeKey: id };
  await platform.notifications
    .publish(notification)
    .catch((error) => console.warn(`No notification: ${error.message}`));
  return { status: isNew ? 201 : 200, body: {} };
}

function isSigned(prefix, body, signatures) {
  const key = Buffer.from(inbox.secret.slice('whsec_'.length), 'base64');
  const expected = createHmac('sha256', key).update(prefix).update(body).digest();
  // Several while the sender changes its secret. Comparing takes the same time wherever they differ.
  return signatures.split(' ', 8).some((one) => {
    const given = Buffer.from(one.startsWith('v1,') ? one.slice(3) : '', 'base64');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

/** For the page of the owner, the only one that may see the secret. */
async function forOwner(request, place) {
  if (request.method === 'GET' && place === 'inbox') {
    const { secret, address, deliveries } = inbox;
    return { status: 200, body: { secret, address, deliveries, refused } };
  }
  if (request.method !== 'POST') return problem(405, 'method_not_allowed', 'This method is not offered.');
  if (place === 'address') inbox.address = originOf(await bodyOf(request));
  else if (place === 'secret') inbox.secret = newSecret();
  else return problem(404, 'not_found', 'There is nothing here.');
  await save();
  return { status: 200, body: {} };
}

/** What the owner copied from Settings; a path that came with it is left off. */
function originOf(text) {
  const { origin, protocol } = new URL(String(text));
  if (!/^https?:$/.test(protocol)) throw new TypeError('not a web address');
  return origin;
}

/** `null` when it is too large. What comes after that is not kept. */
async function bodyOf(request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes <= MOST_BYTES) chunks.push(chunk);
  }
  return bytes > MOST_BYTES ? null : Buffer.concat(chunks);
}

function firstLine(body) {
  return (
    body
      .toString()
      .split('\n', 1)[0]
      .replace(/[\p{Cc}\p{Cf}]/gu, ' ')
      .trim()
      .slice(0, 100) || 'Without content'
  );
}

function newSecret() {
  return `whsec_${randomBytes(24).toString('base64')}`;
}

function read() {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** One after the other, so that the newest state is the last one written, and whole or not at all. */
function save() {
  saving = saving
    .catch(() => undefined)
    .then(async () => {
      const draft = await open(`${file}.new`, 'w', 0o600);
      await draft.writeFile(JSON.stringify({ ...inbox, ids: [...ids] }));
      await draft.sync();
      await draft.close();
      await rename(`${file}.new`, file);
    });
  return saving;
}

function refuse(status, detail) {
  refused.count += 1;
  refused.last = { at: new Date().toISOString(), detail };
  return problem(status, 'invalid_request', detail);
}

// The SDK of the page turns this shape into an error with `code` and `message`.
function problem(status, code, detail) {
  return { status, body: { code, detail } };
}

const server = createServer((request, response) => {
  handle(request)
    .catch((error) => {
      if (error instanceof TypeError) return problem(400, 'invalid_request', 'This is not a web address.');
      console.error(error);
      return problem(500, 'internal_error', 'The backend failed on this request. See the app’s log.');
    })
    .then(({ status, body }) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    );
});
server.listen(PORT, () => console.log(`Webhook Inbox listens on port ${PORT}.`));
process.on('SIGTERM', () => server.close(() => process.exit()));
