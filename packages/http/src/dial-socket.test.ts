// Dialing over a Unix socket, by this process and by one without a network: what is allowed is decided here.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { newPushCertificate } from '../../../tests/support/push-service.ts';
import { until } from '../../../tests/support/wait.ts';
import { type DialServer, type DialServerOptions, dialerAt, serveDials } from './dial-socket.ts';
import { BlockedAddressError, createDialer, type Dialer, TooManyDialsError } from './dialer.ts';

const PROGRAM = fileURLToPath(new URL('../test-support/fetch-through-socket.ts', import.meta.url));
const run = promisify(execFile);
let folder: string;
let number = 0;
const closing: (() => Promise<unknown> | undefined)[] = [];

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'platform-dial-'));
});
after(async () => {
  for (const close of closing) await close();
  await rm(folder, { recursive: true, force: true });
});

async function serve(options: Partial<DialServerOptions> = {}): Promise<{ path: string; server: DialServer }> {
  number += 1;
  const path = join(folder, `${number}.sock`);
  const server = await serveDials({ path, dialer: createDialer(), privateOrigins: [], ...options });
  closing.push(() => server.close());
  return { path, server };
}

async function listening(
  server: Server,
): Promise<{ port: number; origin: string; to: { host: string; port: number } }> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(async () => server.close());
  const { port } = server.address() as AddressInfo;
  return { port, origin: `https://127.0.0.1:${port}`, to: { host: '127.0.0.1', port } };
}

/** What the server says to bytes of a caller's choosing, until it ends the connection. */
async function say(path: string, bytes: string): Promise<string> {
  const socket = connect(path);
  socket.write(bytes);
  let text = '';
  for await (const chunk of socket) text += chunk;
  return text;
}

test('a process without a network reaches a TLS server that is allowed, speaks TLS with it, and reaches no other', async () => {
  const { cert, key } = await newPushCertificate();
  const caFile = join(folder, 'ca.pem');
  await writeFile(caFile, cert);
  const allowed = await listening(createTlsServer({ cert, key }, (req, res) => res.end(`over TLS: ${req.url}`)));
  const strangers: Socket[] = [];
  const other = await listening(createServer((socket) => strangers.push(socket)));
  const { path } = await serve({ privateOrigins: [allowed.origin] });
  // Where an ordinary user may not make namespaces, the process could go past the socket, and the answers are the same.
  const enclosed = existsSync('/usr/bin/unshare') && (await run('unshare', ['-rn', 'true']).then(Boolean, () => false));
  const prefix = enclosed ? ['unshare', '-rn'] : [];
  const [file = '', ...args] = [...prefix, process.execPath, PROGRAM, path];
  const fetched = (url: string, origin: string) =>
    run(file, [...args, url, caFile, origin]).then(({ stdout }) => stdout);
  assert.equal(await fetched(`${allowed.origin}/x`, allowed.origin), 'over TLS: /x');
  // What the process allows itself is not believed.
  assert.equal(await fetched(`${other.origin}/`, other.origin), 'BlockedAddressError');
  assert.equal(await fetched(`${allowed.origin}/`, other.origin), 'BlockedAddressError');
  assert.deepEqual(strangers, []);
});

test('bytes pass both ways with back-pressure, and each side ends on its own', async () => {
  const size = 32 * 1024 * 1024;
  const accepted: Socket[] = [];
  const at = await listening(createServer({ allowHalfOpen: true }, (socket) => accepted.push(socket)));
  const opened: Socket[] = [];
  const dialer = createDialer({
    open(to) {
      opened.push(connect(to));
      return opened.at(-1) ?? assert.fail();
    },
  });
  const { path, server } = await serve({ dialer, privateOrigins: [at.origin] });
  const near = await dialerAt(path).connect({ ...at.to, allow: [at.origin] });
  near.allowHalfOpen = true;
  await until('a first connection', () => accepted.length === 1);
  const [far = assert.fail(), between = assert.fail()] = [accepted[0], opened[0]];
  near.end(Buffer.alloc(size, 'a'));
  let received = 0;
  let held = 0;
  for await (const part of far) {
    received += (part as Buffer).length;
    held = Math.max(held, between.writableLength);
  }
  assert.equal(received, size);
  assert.ok(held < 1024 * 1024, `${held} bytes lay in memory between the two`);
  // The near side has ended; the far one still answers.
  far.end(Buffer.alloc(size, 'b'));
  let answered = 0;
  for await (const part of near) answered += (part as Buffer).length;
  assert.equal(answered, size);
  await until('no connection left', () => server.open() === 0);
});

test('an end of one side, in order or by a reset, ends the other', async () => {
  const accepted: Socket[] = [];
  const at = await listening(createServer((socket) => accepted.push(socket.on('error', () => undefined))));
  const { path, server } = await serve({ privateOrigins: [at.origin] });
  const dial = async () =>
    (await dialerAt(path).connect({ ...at.to, allow: [at.origin] })).on('error', () => undefined);
  const one = await dial();
  await until('a first connection', () => accepted.length === 1);
  one.destroy();
  await once(accepted[0] ?? assert.fail(), 'close');
  const two = await dial();
  await until('a second connection', () => accepted.length === 2);
  accepted[1]?.resetAndDestroy();
  two.resume();
  await once(two, 'close');
  await until('no connection left', () => server.open() === 0);
});

test('connections at one time are bounded, and one that ends makes room', async () => {
  const at = await listening(createServer((socket) => socket.resume()));
  const { path, server } = await serve({ privateOrigins: [at.origin], mostOpen: 2 });
  const dial = () => dialerAt(path).connect({ ...at.to, allow: [at.origin] });
  const [first] = [await dial(), await dial()];
  await assert.rejects(dial(), TooManyDialsError);
  first.destroy();
  await until('one connection left', () => server.open() === 1);
  (await dial()).destroy();
});

test('the origins that may be dialed can be replaced, and connections to those that are gone end', async () => {
  const kept = await listening(createServer((socket) => socket.resume()));
  const lost = await listening(createServer((socket) => socket.resume()));
  const { path, server } = await serve();
  const dial = async ({ origin, to }: typeof kept) =>
    (await dialerAt(path).connect({ ...to, allow: [origin] })).on('error', () => undefined).resume();
  await assert.rejects(dial(kept), BlockedAddressError);
  server.permit([kept.origin, lost.origin]);
  const [stays, ends] = [await dial(kept), await dial(lost)];
  server.permit([kept.origin]);
  await once(ends, 'close');
  await assert.rejects(dial(lost), BlockedAddressError);
  assert.equal(server.open(), 1);
  assert.equal(stays.destroyed, false);
  stays.destroy();
  await until('no connection left', () => server.open() === 0);
});

test('a connection on which nothing passes any more ends', async () => {
  const at = await listening(createServer((socket) => socket.resume()));
  const { path } = await serve({ privateOrigins: [at.origin], idle: 50 });
  const socket = await dialerAt(path).connect({ ...at.to, allow: [at.origin] });
  socket.resume();
  await once(socket, 'close');
});

test('what is no request is answered once and the connection ended, without anything being dialed', async () => {
  const dialed: unknown[] = [];
  const dialer: Dialer = { connect: (to) => Promise.reject(dialed.push(to)) };
  const { path } = await serve({ dialer });
  for (const line of [
    '\n',
    'GET / HTTP/1.1\n',
    '{}\n',
    '[]\n',
    'null\n',
    '{"host":"a","port":"443","allow":"public"}\n',
  ])
    assert.equal(JSON.parse(await say(path, line)).kind, 'failed', line);
  for (const allow of ['all', ['no origin'], [1], undefined])
    assert.equal(JSON.parse(await say(path, `${JSON.stringify({ host: 'a', port: 1, allow })}\n`)).kind, 'failed');
  assert.equal(JSON.parse(await say(path, 'x'.repeat(20_000))).kind, 'failed');
  assert.deepEqual(dialed, []);
});

test('a caller that leaves while its connection is being made ends the attempt', async () => {
  const asked = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<void>();
  const dialer: Dialer = {
    connect: (_to, signal) =>
      new Promise((_resolve, reject) => {
        asked.resolve();
        signal?.addEventListener('abort', () => {
          aborted.resolve();
          reject(signal.reason);
        });
      }),
  };
  const { path } = await serve({ dialer });
  const abort = new AbortController();
  const dialing = dialerAt(path).connect({ host: 'a.example.com', port: 443, allow: 'public' }, abort.signal);
  await asked.promise;
  abort.abort(new Error('left'));
  await assert.rejects(dialing, /left/);
  await aborted.promise;
});

test('refusals of the dialer keep their kind across the socket', async () => {
  const { path } = await serve();
  const dialer = dialerAt(path);
  await assert.rejects(dialer.connect({ host: '127.0.0.1', port: 80, allow: 'public' }), BlockedAddressError);
  const gone = await listening(createServer());
  const { path: second } = await serve({ privateOrigins: ['https://127.0.0.1:1'] });
  await assert.rejects(
    dialerAt(second).connect({ host: '127.0.0.1', port: 1, allow: ['https://127.0.0.1:1', gone.origin] }),
    /ECONNREFUSED/,
  );
});
