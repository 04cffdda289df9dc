// Who may reach a backend through this node, with what, and what comes back.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { Assignment } from '@platform/contract';
import { until } from '../../../../tests/support/wait.ts';
import { capabilityFor, makeAssignment } from '../../test-support/core-double.ts';
import { type CallOptions, request, startTestNode, type TestNode } from '../../test-support/node.ts';

const ECHO = `
  const http = process.getBuiltinModule('node:http');
  http.createServer((req, res) => {
    if (req.url === '/stream') {
      res.write('first\\n');
      req.on('data', (chunk) => res.write(chunk));
      req.on('end', () => res.end());
      return;
    }
    if (req.url === '/abort') { res.write('x'); res.on('close', () => console.log('client left')); return; }
    let body = '';
    req.on('data', (chunk) => { body += chunk; });
    req.on('end', () => {
      res.writeHead(req.url === '/teapot' ? 418 : 200, {
        'set-cookie': ['a=1', 'b=2'], 'access-control-allow-origin': '*', 'access-control-allow-credentials': 'true',
        'content-security-policy': "default-src *", 'service-worker-allowed': '/', 'x-content-type-options': 'none',
        'clear-site-data': '"*"', 'x-own': 'kept', 'content-type': 'application/json', 'cache-control': 'max-age=5',
      });
      res.end(JSON.stringify({ method: req.method, url: req.url, headers: req.headers, body }));
    });
  }).listen(Number(process.env.PORT));
`;

describe('the node listener', () => {
  let node: TestNode;
  let one: Assignment;
  let other: Assignment;

  before(async () => {
    node = await startTestNode();
    const hash = await node.core.publish({ 'index.mjs': ECHO });
    one = makeAssignment(hash);
    other = makeAssignment(hash);
    node.core.assign([one, other]);
    await until(
      'the assignments',
      async () => (await node.core.control('GET', `/installations/${one.installationId}/status`)).status === 200,
    );
  });
  after(() => node.close());

  const code = (text: string) => JSON.parse(text).code;

  test("carries a page's request to the backend without the caller's credentials and claims", async () => {
    const answer = await node.call(one, '/a/b?c=%2F', {
      method: 'POST',
      body: 'text',
      headers: {
        cookie: 'platform_session=secret',
        forwarded: 'for=1.2.3.4',
        'x-forwarded-for': '1.2.3.4',
        'x-forwarded-host': 'evil.example',
        'x-real-ip': '1.2.3.4',
        'x-platform-account': 'root',
        'x-mine': 'kept',
        'content-length': '4',
      },
    });
    assert.equal(answer.status, 200);
    const seen = JSON.parse(answer.text);
    assert.equal(seen.method, 'POST');
    assert.equal(seen.url, '/a/b?c=%2F');
    assert.equal(seen.body, 'text');
    assert.equal(seen.headers['x-mine'], 'kept');
    for (const name of ['authorization', 'cookie', 'forwarded', 'x-forwarded-for', 'x-real-ip', 'x-platform-account']) {
      assert.equal(seen.headers[name], undefined, name);
    }
    assert.equal(JSON.stringify(seen).includes('evil.example'), false);
  });

  test('answers with its own rules, whatever the backend says about them', async () => {
    const { status, headers } = await node.call(one, '/teapot');
    assert.equal(status, 418);
    assert.equal(headers['x-own'], 'kept');
    assert.equal(headers['cache-control'], 'max-age=5');
    assert.equal(headers['access-control-allow-origin'], one.appOrigin);
    assert.equal(headers['access-control-allow-credentials'], undefined);
    assert.equal(headers['content-security-policy'], "sandbox; default-src 'none'; frame-ancestors 'none'");
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['cross-origin-resource-policy'], 'same-origin');
    for (const name of ['set-cookie', 'service-worker-allowed', 'clear-site-data'])
      assert.equal(headers[name], undefined, name);
    assert.match(String(headers['x-request-id']), /^[0-9a-f-]{36}$/);
  });

  const refused: Readonly<Record<string, [CallOptions, number, string]>> = {
    'without a capability': [{ headers: { authorization: undefined } }, 401, 'unauthenticated'],
    'with a wrong capability': [{ headers: { authorization: 'Bearer pdc_wrong' } }, 401, 'unauthenticated'],
    'with another scheme': [{ headers: { authorization: 'Basic cGRjOg==' } }, 401, 'unauthenticated'],
    'from the page of another app': [
      { headers: { origin: 'http://other--x.apps.platform.localhost:8787' } },
      403,
      'origin_not_allowed',
    ],
    'from a page without an origin of its own': [{ headers: { origin: 'null' } }, 403, 'origin_not_allowed'],
    'from the same host on another port': [
      { headers: { origin: 'http://app-1--x.apps.platform.localhost:8788' } },
      403,
      'origin_not_allowed',
    ],
    'for another host': [{ headers: { host: 'evil.example' } }, 421, 'unknown_host'],
    'for no host': [{ headers: { host: undefined } }, 400, 'invalid_request'],
    'that asks to be traced': [{ method: 'TRACE' }, 405, 'method_not_allowed'],
  };
  for (const [name, [options, status, wanted]] of Object.entries(refused)) {
    test(`refuses a request ${name}`, async () => {
      const answer = name === 'for no host' ? await rawWithoutHost() : await node.call(one, '/', options);
      assert.equal(answer.status, status);
      assert.equal(code(answer.text), wanted);
      if (wanted === 'origin_not_allowed') assert.equal(answer.headers['access-control-allow-origin'], undefined);
      // The page itself may read why.
      if (wanted === 'unauthenticated') assert.equal(answer.headers['access-control-allow-origin'], one.appOrigin);
    });
  }

  /** Node's client always sends one, so this one is written by hand. */
  async function rawWithoutHost() {
    const socket = connect(node.runtime.listenerPort, '127.0.0.1');
    socket.end(`GET /e/${one.endpointId}/ HTTP/1.1\r\nConnection: close\r\n\r\n`);
    let text = '';
    for await (const chunk of socket) text += chunk;
    const [head = '', body = ''] = text.split('\r\n\r\n');
    return { status: Number(head.split(' ')[1]), text: body, headers: {} as Record<string, string> };
  }

  test('refuses the capability of one app at the endpoint of another', async () => {
    const answer = await node.call(one, '/', { headers: { authorization: `Bearer ${capabilityFor(other)}` } });
    assert.equal(answer.status, 401);
  });

  test('lets a native client in, which has no origin', async () => {
    assert.equal((await node.call(one, '/', { headers: { origin: undefined } })).status, 200);
  });

  for (const path of ['/..', '/%2e%2e/x', '/a%2fb', '/a\\b', '/%00', '/%zz']) {
    test(`refuses the path ${path}`, async () => {
      const answer = await node.call(one, path);
      assert.equal(answer.status, 400);
      assert.equal(code(answer.text), 'invalid_path');
    });
  }

  test('waits a moment for an app that core assigns only now', async () => {
    const fresh = makeAssignment(one.packageHash);
    const early = node.call(fresh);
    // The listener has the request before the assignment comes.
    assert.equal((await node.call(one)).status, 200);
    node.core.assign([one, other, fresh]);
    assert.equal((await early).status, 200);
  });

  test('knows nothing else', async () => {
    for (const path of [
      '/',
      '/e/',
      '/e/unknown/',
      '/control/installations/x/status',
      `/control/installations/${one.installationId}/status`,
    ]) {
      const answer = await request(node.runtime.listenerPort, path, {
        headers: { authorization: `Bearer ${capabilityFor(one)}` },
      });
      assert.equal(answer.status, 404, path);
      assert.equal(answer.headers['content-type'], 'application/problem+json');
    }
  });

  test('answers the preflight of its own page, and of no other, without waking the backend', async () => {
    const preflight = {
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'authorization, content-type',
    };
    const starts = node.core.starts.get(other.installationId)?.length;
    const answer = await node.call(other, '/x', {
      method: 'OPTIONS',
      headers: { ...preflight, authorization: undefined },
    });
    assert.equal(answer.status, 204);
    assert.equal(answer.headers['access-control-allow-origin'], other.appOrigin);
    assert.equal(answer.headers['access-control-allow-methods'], 'PUT');
    assert.equal(answer.headers['access-control-allow-headers'], 'authorization, content-type');
    assert.equal(answer.headers['access-control-allow-credentials'], undefined);
    assert.equal(node.core.starts.get(other.installationId)?.length, starts);
    const foreign = await node.call(other, '/x', {
      method: 'OPTIONS',
      headers: { ...preflight, origin: one.appOrigin, authorization: undefined },
    });
    assert.equal(foreign.status, 403);
  });

  test('streams both ways and passes on that the caller has left', async () => {
    assert.equal((await node.call(one, '/stream', { method: 'POST', body: 'second\n' })).text, 'first\nsecond\n');
    const abort = new AbortController();
    const call = node.call(one, '/abort', { signal: abort.signal });
    call.catch(() => undefined);
    const lines = async () => (await node.core.logs(one.installationId)).items.map((item) => item.line);
    // Until the request has arrived there is nothing to leave.
    await until('the backend to notice', async () => {
      if (!abort.signal.aborted && (await node.call(one)).status === 200) abort.abort();
      return (await lines()).includes('client left');
    });
    await assert.rejects(call);
  });

  test('lets only core into the control side', async () => {
    const path = `/installations/${one.installationId}/status`;
    assert.equal((await node.core.control('GET', path, 'pnc_wrong')).status, 401);
    assert.equal((await node.core.control('POST', path)).status, 405);
    assert.equal(
      (await node.core.control('GET', '/installations/inst-01890000-0000-7000-8000-ffffffffffff/status')).status,
      404,
    );
    assert.equal((await node.core.control('GET', '/elsewhere')).status, 404);
    assert.equal((await node.core.control('GET', `/installations/${one.installationId}/logs?limit=x`)).status, 400);
  });
});

test('an unknown endpoint is not found, or to be retried while core is away', async () => {
  const node = await startTestNode();
  try {
    const ask = () => request(node.runtime.listenerPort, '/e/ep_unknown/', {});
    await until('the list of core', async () => (await ask()).status === 404);
    await node.core.close();
    const answer = await until('the node to miss core', async () => {
      const answered = await ask();
      return answered.status === 503 ? answered : undefined;
    });
    assert.equal(JSON.parse(answer.text).code, 'workload_unavailable');
    assert.equal(answer.headers['retry-after'], '1');
  } finally {
    await node.runtime.stop();
    node.place.remove();
  }
});
