// A credential that core refuses is replaced once, for all calls that wait for it, and never in a loop.
import { strict as assert } from 'node:assert';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { type Launch, LaunchAccess } from './launch.ts';
import { listApps, type NotificationsService, notificationsService } from './services.ts';

interface Served {
  readonly service: NotificationsService;
  readonly access: LaunchAccess;
  /** Every request as `<method> <credential>`. */
  readonly requests: string[];
  /** Launches that the page asked for. */
  launches: number;
  /** The only credential that is accepted. */
  valid: string;
  /** Time of the pause between renewals. */
  now: number;
}

/** Services behind a page that was launched with `pfc_0`; launch n gives `pfc_n`, when `gate` lets it. */
async function served(
  t: TestContext,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  gate: () => Promise<void> = async () => {},
): Promise<Served> {
  const server = createServer((request, response) => {
    const credential = request.headers.authorization?.slice('Bearer '.length);
    served.requests.push(`${request.method} ${credential}`);
    if (credential === served.valid) answer(request, response);
    else response.writeHead(401).end(JSON.stringify({ code: 'unauthenticated', detail: 'It has ended.' }));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const launch: Launch = {
    appId: 'test',
    api: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    shell: 'http://shell.platform.localhost',
    token: 'pfc_0',
    expiresAt: '2026-01-01T00:00:00Z',
    backend: null,
  };
  const again = async (): Promise<Launch> => {
    served.launches += 1;
    const token = `pfc_${served.launches}`;
    await gate();
    return { ...launch, token };
  };
  const access = new LaunchAccess(launch, again, () => served.now);
  const served: Served = {
    service: notificationsService(access),
    access,
    requests: [],
    launches: 0,
    valid: 'pfc_1',
    now: 1_000,
  };
  return served;
}

const list = (_request: IncomingMessage, response: ServerResponse): void =>
  void response.end('{"items":[],"nextCursor":null}');

test('a call whose capability is refused is sent again with another one', async (t) => {
  const bodies: string[] = [];
  const page = await served(t, async (request, response) => {
    bodies.push(await text(request));
    response.end('{"notification":{"id":"1"}}');
  });
  await page.service.publish({ topic: 'a', title: 'A' });
  assert.deepEqual(page.requests, ['POST pfc_0', 'POST pfc_1']);
  assert.deepEqual(bodies, ['{"topic":"a","title":"A"}']);
});

test('calls that are refused at the same time share one launch', async (t) => {
  const opened = Promise.withResolvers<void>();
  const page = await served(t, list, () => opened.promise);
  const calls = [page.service.list(), page.service.list(), listApps(page.access)];
  while (page.requests.length < 3 || page.launches === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  opened.resolve();
  await Promise.all(calls);
  assert.equal(page.launches, 1);
  assert.deepEqual(page.requests.sort(), [...Array(3).fill('GET pfc_0'), ...Array(3).fill('GET pfc_1')]);
});

test('a call that is refused again says so, and its followers cause no launch for a while', async (t) => {
  const page = await served(t, list);
  page.valid = 'pfc_2';
  await assert.rejects(page.service.list(), { code: 'unauthenticated', status: 401 });
  assert.deepEqual(page.requests, ['GET pfc_0', 'GET pfc_1']);
  await assert.rejects(page.service.list(), { code: 'unauthenticated' });
  assert.equal(page.launches, 1);
  page.now += 30_000;
  await page.service.list();
  assert.equal(page.launches, 2);
});

test('without another launch the call fails with its own refusal', async (t) => {
  const page = await served(t, list, () => Promise.reject(new Error('the shell does not answer')));
  await assert.rejects(page.service.list(), { code: 'unauthenticated', message: 'It has ended.' });
  assert.deepEqual(page.requests, ['GET pfc_0']);
});

test('a call that ends while it waits for the launch ends at once', async (t) => {
  const page = await served(t, list, () => new Promise(() => {}));
  const call = new AbortController();
  const stream = new AbortController();
  const streamed = Array.fromAsync(page.service.stream({ signal: stream.signal }));
  const called = page.service.list({ signal: call.signal });
  const limited = page.service.list({ timeoutMilliseconds: 200 });
  await assert.rejects(limited, { code: 'timed_out' });
  call.abort(new Error('enough'));
  await assert.rejects(called, { message: 'enough' });
  stream.abort();
  assert.deepEqual(await streamed, []);
});

test('a stream goes on behind the last event that it had', async (t) => {
  const positions: (string | undefined)[] = [];
  const page = await served(t, (request, response) => {
    positions.push(request.headers['last-event-id'] as string | undefined);
    const last = positions.length;
    response.end(`id: ${last}\nevent: apps\ndata: {}\n\n`);
    // The first connection ends, and its capability with it.
    page.valid = `pfc_${page.launches + 1}`;
    page.now += 30_000;
  });
  const ids: unknown[] = [];
  for await (const { id } of page.service.stream()) {
    ids.push(id);
    if (ids.length === 3) break;
  }
  assert.deepEqual(ids, ['1', '2', '3']);
  assert.deepEqual(positions, [undefined, '1', '2']);
  assert.equal(page.launches, 3);
});

test('a stream that is refused again ends with the refusal', async (t) => {
  const page = await served(t, list);
  page.valid = 'none';
  await assert.rejects(Array.fromAsync(page.service.stream()), { code: 'unauthenticated' });
  assert.deepEqual(page.requests, ['GET pfc_0', 'GET pfc_1']);
});
