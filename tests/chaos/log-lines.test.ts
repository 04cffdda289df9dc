// What the log says when connections die: of the database, of clients that stop in the middle of a download or an upload, of
// backends and their node. Each event is one short line, and none shows the insides of a connection.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import type { LaunchDescriptor } from '@platform/contract';
import { withConnection } from '@platform/core/database';
import { backendDoor, openBackend } from '../support/backend.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import {
  databaseUrlOf,
  killPart,
  type PlatformPlace,
  type PlatformProcess,
  platformPlace,
  startPlatform,
} from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { until } from '../support/wait.ts';

const APP = 'endless';
const LARGE_BYTES = 20 * 1024 * 1024;
const WORKLOAD = `
  import http from 'node:http';
  const piece = Buffer.alloc(64 * 1024, 'x');
  http.createServer((req, res) => {
    if (req.url.endsWith('/hello')) return void res.end('hello');
    if (req.method === 'POST') return void req.resume().on('error', () => undefined);
    const push = () => { while (!res.destroyed) if (!res.write(piece)) return void res.once('drain', push); };
    push();
  }).listen(Number(process.env.PORT));
`;

/** More than this is no line that a person reads. */
const LONGEST_LINE = 2_500;
/** Members of clients, sockets and requests of pg, undici and Node. */
const INSIDES =
  /_events|_readableState|_writableState|connectionParameters|\[Symbol\(|"_handle"|_connected|"socket":|"client":/;

let place: PlatformPlace;
let platform: PlatformProcess;
let account: TestAccount;

before(async () => {
  place = await platformPlace({ PLATFORM_LOG_LEVEL: 'debug' });
  platform = await startPlatform(place);
  account = await registerAccount(platform, 'anna');
  const files = {
    'workload/main.mjs': WORKLOAD,
    'frontend/index.html': 'x',
    'frontend/large.bin': Buffer.alloc(LARGE_BYTES, 'x'),
  };
  await publishTestApp(account, APP, { workload: { runtime: 'node', entry: 'main.mjs' } }, files);
  await account.browser.take('/v1/apps', { body: { appId: APP } });
});
after(async () => {
  await platform?.stop();
  await place?.remove();
});

/** What was written since the former call, by line. */
let read = 0;
function newLines(): string[] {
  const all = platform.output();
  const lines = all
    .slice(read)
    .split('\n')
    .filter((line) => line.trim() !== '');
  read = all.length;
  return lines;
}

function assertReadable(lines: readonly string[]): void {
  for (const line of lines) {
    assert.ok(line.length <= LONGEST_LINE, `${line.length} characters: ${line.slice(0, 600)}`);
    assert.doesNotMatch(line, INSIDES, line.slice(0, 600));
    // A line of the log, or a sentence of the supervisor; a stack or a printed object has neither form.
    if (line.startsWith('{')) assert.doesNotThrow(() => JSON.parse(line), line);
    else assert.match(line, /^[✓✗]? ?[A-Z][^{}]*$/, line);
  }
}

test('when PostgreSQL ends every connection, each is one line', async () => {
  newLines();
  for (let round = 0; round < 3; round += 1) {
    const asked = Array.from({ length: 20 }, () => account.fetch('/v1/apps').catch(() => undefined));
    await withConnection({ connectionString: await databaseUrlOf(place) }, (client) =>
      client.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename = current_user',
      ),
    );
    await Promise.all(asked);
    await until('core answers again', async () => (await account.fetch('/v1/apps')).status === 200);
  }
  await until('the lost connections are in the log', () =>
    platform.output().includes('a database connection was lost'),
  );
  const lines = newLines();
  assertReadable(lines);
  const lost = lines.filter((line) => line.includes('a database connection was lost'));
  for (const line of lost) {
    const { err } = JSON.parse(line) as { err: object };
    for (const name of Object.keys(err)) assert.match(name, /^(type|message|code|stack|causes)$/, line);
  }
});

test('when PostgreSQL is killed, what fails is lines', async () => {
  const asked = Array.from({ length: 20 }, () => account.fetch('/v1/apps').catch(() => undefined));
  await killPart(place, 'PostgreSQL');
  await Promise.all(asked);
  await until('core answers again', async () => (await account.fetch('/v1/apps')).status === 200);
  assertReadable(newLines());
});

interface Exchange {
  readonly port: number;
  /** Method and target. */
  readonly line: string;
  readonly fields: string;
  /** Bytes of the body that are announced; a part of them is sent. */
  readonly length?: number;
  /** Bytes of the answer after which the client leaves; without any it leaves at once. */
  readonly enough?: number;
}

/** A client that leaves in the middle. */
async function breakOff({ port, line, fields, length, enough = 0 }: Exchange): Promise<void> {
  const socket: Socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const announced = length === undefined ? '' : `Content-Length: ${length}\r\n`;
  const sent = new Promise<void>((resolve) => {
    socket.write(`${line} HTTP/1.1\r\n${fields}\r\n${announced}\r\n`, () => resolve());
  });
  await sent;
  if (length !== undefined)
    await new Promise<void>((resolve) => socket.write(Buffer.alloc(length / 10, 'x'), () => resolve()));
  let received = 0;
  if (enough > 0)
    await new Promise<void>((resolve) => {
      socket.on('data', (chunk: Buffer) => {
        received += chunk.length;
        if (received >= enough) resolve();
      });
      socket.once('close', () => resolve());
    });
  socket.resetAndDestroy();
  if (!socket.closed) await once(socket, 'close');
  assert.ok(received >= enough, `${line}: only ${received} bytes came`);
}

test('downloads and uploads that clients break off are one line each at most', async () => {
  newLines();
  const launch = await account.browser.take<LaunchDescriptor>(`/v1/apps/${APP}/launch`, { method: 'POST' });
  assert.ok(launch.backend !== null);
  const { capability, endpointTicket } = launch.backend;
  const { url }: { url: string } = JSON.parse(
    Buffer.from(endpointTicket.slice('pet1.'.length), 'base64url').toString(),
  );
  const backend = new URL(url);
  const shell = `Host: ${new URL(platform.origin).host}\r\nOrigin: ${platform.origin}\r\nCookie: ${account.cookie}`;
  const app = `Host: ${new URL(launch.origin).host}`;
  const ours = `Host: ${backend.host}\r\nOrigin: ${launch.origin}\r\nAuthorization: Bearer ${capability}`;
  const cases: readonly Omit<Exchange, 'port'>[] = [
    {
      line: 'PUT /v1/catalog/half/versions/1.0.0',
      fields: `${shell}\r\nContent-Type: application/gzip`,
      length: 5_000_000,
    },
    { line: 'POST /v1/apps', fields: `${shell}\r\nContent-Type: application/json`, length: 50_000 },
    { line: 'GET /v1/events', fields: shell, enough: 10 },
    { line: 'GET /', fields: shell, enough: 100 },
    { line: 'GET /large.bin', fields: app, enough: 1_000_000 },
  ];
  for (const one of cases) for (let round = 0; round < 3; round += 1) await breakOff({ ...one, port: place.port });
  for (const one of [
    { line: `GET ${backend.pathname}/endless`, fields: ours, enough: 1_000_000 },
    { line: `POST ${backend.pathname}/upload`, fields: ours, length: 5_000_000 },
  ])
    for (let round = 0; round < 3; round += 1) await breakOff({ ...one, port: place.nodePort });
  const ask = await openBackend(place, account, APP);
  assert.equal((await ask('/hello')).text, 'hello');
  const lines = newLines();
  assertReadable(lines);
  const events = 3 * (cases.length + 2);
  const complaints = lines.filter((line) => line.startsWith('{') && JSON.parse(line).level >= 40);
  assert.ok(complaints.length <= events, complaints.join('\n'));
});

/**
 * Resolves once the download has begun; its `end` once it is broken off. What came is not kept: it is as much as the time
 * allows.
 */
async function beginEndless(): Promise<{ readonly end: Promise<void> }> {
  const { port, path, headers } = await backendDoor(place, account, APP);
  const request = http.get({ host: '127.0.0.1', port, path: `${path}/endless`, headers });
  const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
  request.on('error', () => undefined);
  const { promise: end, resolve } = Promise.withResolvers<void>();
  answer.on('error', () => undefined).on('close', resolve);
  answer.resume();
  return { end };
}

for (const part of ['Node', 'Core'] as const)
  test(`when the process of ${part} is killed beneath requests, what fails is lines`, async () => {
    newLines();
    const ask = await openBackend(place, account, APP);
    assert.equal((await ask('/hello')).text, 'hello');
    const downloads = await Promise.all(Array.from({ length: 5 }, beginEndless));
    const under = Promise.all([
      ...downloads.map(({ end }) => end),
      ...Array.from({ length: 5 }, () => account.fetch('/v1/apps').catch(() => undefined)),
    ]);
    await killPart(place, part);
    // A download that has no end is broken off by the platform's stop at the latest.
    if (part === 'Node') await under;
    await until('a backend answers again', async () => {
      const again = await openBackend(place, account, APP).catch(() => undefined);
      return (await again?.('/hello').catch(() => undefined))?.text === 'hello';
    });
    assertReadable(newLines());
  });
