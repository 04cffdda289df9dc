// What the SDK makes of servers that do not behave: silence, garbage, half an answer, nobody there.
import { strict as assert } from 'node:assert';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { PlatformError, PlatformServicesClient } from './workload.ts';

async function clientOf(t: TestContext, listener: RequestListener): Promise<PlatformServicesClient> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return new PlatformServicesClient({ apiUrl: `http://127.0.0.1:${port}/`, gatewayToken: 'pgw_test' });
}

test('a call without an answer ends at its time limit', async (t) => {
  const client = await clientOf(t, () => {});
  const failure = client.notifications.list({ timeoutMilliseconds: 20 });
  await assert.rejects(failure, { name: 'PlatformError', code: 'timed_out', status: 0 });
});

test('the time limit holds while the body dribbles', async (t) => {
  const client = await clientOf(t, (_request, response) => response.writeHead(200).write('{"items":'));
  const failure = client.notifications.list({ timeoutMilliseconds: 100 });
  await assert.rejects(failure, { code: 'timed_out' });
});

test('the caller can give up while the call is under way', async (t) => {
  const ending = new AbortController();
  const client = await clientOf(t, () => ending.abort(new Error('enough')));
  await assert.rejects(client.notifications.list({ signal: ending.signal }), { message: 'enough' });
});

for (const [what, body, status] of [
  ['something that is not JSON', '<html>', 200],
  ['a refusal without a problem document', 'nginx', 502],
] as const) {
  test(`${what} is an invalid answer`, async (t) => {
    const client = await clientOf(t, (_request, response) => response.writeHead(status).end(body));
    const expected = { name: 'PlatformError', code: 'invalid_answer', status: status === 200 ? 0 : status };
    await assert.rejects(client.notifications.list(), expected);
  });
}

test('a redirect is not followed with the credential', async (t) => {
  let calls = 0;
  const client = await clientOf(t, (_request, response) => {
    calls += 1;
    response.writeHead(307, { location: '/elsewhere' }).end();
  });
  await assert.rejects(client.notifications.list(), { code: 'invalid_answer', status: 307 });
  assert.equal(calls, 1);
});

test('nobody there is a failed network, with the cause', async (t) => {
  const client = await clientOf(t, (request) => request.destroy());
  await assert.rejects(client.notifications.list(), (error) => {
    assert.ok(error instanceof PlatformError);
    assert.equal(error.code, 'network_failed');
    assert.ok(error.cause instanceof Error);
    return true;
  });
});

/** Answers `failures` times like a platform that restarts, then as it should; counts the requests. */
async function restarting(
  t: TestContext,
  failures: number,
): Promise<{ client: PlatformServicesClient; sent(): number }> {
  let sent = 0;
  const client = await clientOf(t, (request, response) => {
    sent += 1;
    if (sent > failures) response.end('{"items":[],"nextCursor":null,"notification":{},"indexed":1,"lease":{}}');
    else if (sent % 2 === 1) request.destroy();
    else response.writeHead(503).end(JSON.stringify({ code: 'unavailable', detail: 'Core restarts.', status: 503 }));
  });
  return { client, sent: () => sent };
}

const ENTRY = { id: 'a', title: 'A', url: '/a' };

type Calls = Readonly<Record<string, (client: PlatformServicesClient) => Promise<unknown>>>;

const repeatable: Calls = {
  'a read': ({ notifications }) => notifications.list(),
  'a mark': ({ notifications }) => notifications.read('ntf-1'),
  'a publication with a dedupe key': ({ notifications }) =>
    notifications.publish({ topic: 't', title: 'T', dedupeKey: 'k' }),
  'a replacement of the index': ({ search }) => search.replace([ENTRY]),
  'an addition to the index': ({ search }) => search.upsert([ENTRY]),
  'a run of this installation': ({ workflows }) => workflows.get('wf-1'),
};

test('what may be repeated outlasts a platform that restarts, and gives up at the third attempt', async (t) => {
  const each = Object.entries(repeatable).map(async ([what, call]) => {
    const passing = await restarting(t, 2);
    await call(passing.client);
    assert.equal(passing.sent(), 3, what);
    const lasting = await restarting(t, 9);
    await assert.rejects(call(lasting.client), { name: 'PlatformError', code: 'network_failed' }, what);
    assert.equal(lasting.sent(), 3, what);
  });
  await Promise.all(each);
});

for (const [what, call] of Object.entries<Calls[string]>({
  'a publication without a dedupe key': ({ notifications }) => notifications.publish({ topic: 't', title: 'T' }),
  'marking all records': ({ notifications }) => notifications.readAll(),
  'a new work lease': (client) => client.acquireWorkLease(),
  // A second one would remove the run that the first one cancelled.
  'cancelling a run': ({ workflows }) => workflows.cancel('wf-1'),
})) {
  test(`${what} is sent once`, async (t) => {
    const { client, sent } = await restarting(t, 1);
    await assert.rejects(call(client), { code: 'network_failed' });
    assert.equal(sent(), 1);
  });
}

test('what the platform decided, or asks a long patience for, is not repeated', async (t) => {
  for (const [status, code, wait] of [
    [403, 'grant_missing', '0'],
    [429, 'rate_limited', '0'],
    [500, 'internal_error', '0'],
    [503, 'runtime_paused', '0'],
    [503, 'unavailable', '60'],
  ] as const) {
    let sent = 0;
    const client = await clientOf(t, (_request, response) => {
      sent += 1;
      response.writeHead(status, { 'retry-after': wait }).end(JSON.stringify({ code, detail: 'No.', status }));
    });
    await assert.rejects(client.notifications.list(), { code, status, retryAfter: Number(wait) });
    assert.equal(sent, 1, code);
  }
});

test('the pause between two attempts ends with the call', async (t) => {
  const ending = new AbortController();
  const client = await clientOf(t, (request) => {
    request.destroy();
    // After the client has seen it.
    setImmediate(() => ending.abort(new Error('enough')));
  });
  await assert.rejects(client.notifications.list({ signal: ending.signal }), { message: 'enough' });
});

test('the wait the platform asks for is told in seconds', async (t) => {
  const problem = { code: 'rate_limited', detail: 'Too many requests.', requestId: 'r1', status: 429 };
  const client = await clientOf(t, (_request, response) =>
    response.writeHead(429, { 'retry-after': '7' }).end(JSON.stringify(problem)),
  );
  const failure = client.notifications.publish({ topic: 't', title: 'T' });
  await assert.rejects(failure, { code: 'rate_limited', status: 429, retryAfter: 7, requestId: 'r1' });
});

test('credential, path, query and body go out as the contract says', async (t) => {
  const requests: unknown[] = [];
  const client = await clientOf(t, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { authorization, 'content-type': type } = request.headers;
    requests.push([request.method, request.url, authorization, type, Buffer.concat(chunks).toString()]);
    response.end('{"items":[],"nextCursor":null,"indexed":0}');
  });
  await client.notifications.list({ topic: 'a.b', unread: true, limit: 5, cursor: 'x/y' });
  await client.search.upsert([]);
  await client.search.remove('a+b c');
  // The platform takes no path with these.
  for (const id of ['a/b', 'a\\b', 'a\nb', '\udc00'])
    await assert.rejects(client.search.remove(id), { name: 'PlatformError', code: 'invalid_request' });
  assert.deepEqual(requests, [
    ['GET', '/v1/services/notifications?topic=a.b&unread=true&limit=5&cursor=x%2Fy', 'Bearer pgw_test', undefined, ''],
    ['POST', '/v1/services/search/index', 'Bearer pgw_test', 'application/json', '{"entries":[]}'],
    ['DELETE', '/v1/services/search/index/a%2Bb%20c', 'Bearer pgw_test', undefined, ''],
  ]);
});

test('without the variables of the platform there is no client', () => {
  const open = () => PlatformServicesClient.fromEnv({ PLATFORM_API_URL: 'http://127.0.0.1:1' });
  assert.throws(open, { name: 'PlatformError', code: 'not_launched' });
});

test('a stream that breaks is taken up again after the last event', async (t) => {
  const asked: unknown[] = [];
  const event = (id: number) => `id: ${id}\nevent: apps\ndata: {}\n\n`;
  const client = await clientOf(t, (request, response) => {
    asked.push(request.headers['last-event-id']);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (asked.length === 1) response.write(event(1), () => response.destroy());
    else response.write(event(2));
  });
  const ending = new AbortController();
  const ids: unknown[] = [];
  for await (const { id } of client.notifications.stream({ signal: ending.signal })) {
    ids.push(id);
    if (ids.length === 2) ending.abort();
  }
  assert.deepEqual(ids, ['1', '2']);
  assert.deepEqual(asked, [undefined, '1']);
});

test('a stream that is refused ends with the refusal', async (t) => {
  const client = await clientOf(t, (_request, response) =>
    response.writeHead(403).end(JSON.stringify({ code: 'grant_missing', detail: 'No.' })),
  );
  await assert.rejects(client.notifications.stream().next(), { code: 'grant_missing', status: 403 });
});

test('leaving the loop closes the connection', async (t) => {
  let closed = () => {};
  const over = new Promise<void>((resolve) => {
    closed = resolve;
  });
  const client = await clientOf(t, (request, response) => {
    request.on('close', closed);
    response.writeHead(200).write('event: apps\ndata: {}\n\n');
  });
  for await (const _ of client.notifications.stream()) break;
  await over;
});
