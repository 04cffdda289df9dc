// Hostile clients, pages and documents on the way to tokens of somebody's account (connection-cases.ts), and what takes several steps:
// consent in another browser, twice, too late; codes and tokens used again, elsewhere and by others.
import assert from 'node:assert/strict';
import { connect as connectTo } from 'node:net';
import { after, before, test } from 'node:test';
import { limits } from '@platform/contract';
import { createDialer } from '@platform/http';
import { confirm, registerAccount, signIn, type TestAccount, type TestBrowser } from '../support/client.ts';
import {
  allowConnection,
  connectClient,
  cookieOf,
  newVerifier,
  OutsideClient,
  REDIRECT,
  type Tokens,
} from '../support/connected-client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { problemCode, type RawAnswer, rawRequest } from '../support/raw-http.ts';
import { startTlsUpstream, type TlsUpstream } from '../support/tls-upstream.ts';
import {
  AUTHORIZE,
  DOCUMENT_ADDRESSES,
  DOCUMENTS,
  EXCHANGE,
  METADATA,
  REFRESH,
  type TokenCase,
} from './connection-cases.ts';

const OTHER_REDIRECT = 'https://client.example/cb';
/** The name in the certificate of the upstream. */
const DOCUMENT_HOST = 'push.example.net';
const PUBLIC = '93.184.215.14';
const NAMES: Readonly<Record<string, readonly string[]>> = {
  [DOCUMENT_HOST]: [PUBLIC],
  'private.example': ['10.0.0.5'],
  'mixed.example': [PUBLIC, '127.0.0.1'],
};

let documents: TlsUpstream;
let world: Constellation;
let account: TestAccount;
let clientId: string;
let otherId: string;
/** By which the clock of core is ahead. */
let ahead = 0;

before(async () => {
  documents = await startTlsUpstream();
  const dialer = createDialer({
    resolve: async (name) => NAMES[name] ?? [],
    open: () => connectTo({ host: '127.0.0.1', port: documents.port }),
  });
  world = await startConstellation({
    clock: () => new Date(Date.now() + ahead),
    clientDocuments: { dialer, ca: documents.ca },
  });
  account = await registerAccount(world, 'victim');
  const client = new OutsideClient(world);
  ({ client_id: clientId } = await client.register({ redirect_uris: [REDIRECT, OTHER_REDIRECT] }));
  ({ client_id: otherId } = await client.register({ redirect_uris: [REDIRECT] }));
});
after(async () => {
  await world.close();
  await documents.close();
});

type Changes = TokenCase['changes'];

/** A form or query with changes, in which a name may stand twice. */
function changed(right: Readonly<Record<string, string>>, changes: Changes): string {
  const { origin } = new OutsideClient(world);
  const written = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...right, ...changes })) {
    const all: readonly string[] = value === undefined ? [] : typeof value === 'string' ? [value] : value;
    for (const one of all) written.append(name, one.replace(/^ORIGIN/, origin).replace(/^OTHER$/, otherId));
  }
  return written.toString();
}

function errorOf({ json, text }: RawAnswer): string {
  return String((json as { error?: unknown } | undefined)?.error ?? text);
}

for (const { what, changes, ends } of AUTHORIZE) {
  test(`authorization with ${what}`, async () => {
    const client = new OutsideClient(world);
    const query = changed(client.parameters(clientId, newVerifier()), changes);
    const answer = await client.send(`/oauth/authorize?${query}`, { headers: { accept: 'text/html' } });
    const location = answer.headers.location;
    if (ends === 'page') {
      assert.deepEqual([answer.status, location], [400, undefined]);
      assert.match(String(answer.headers['content-security-policy']), /frame-ancestors 'none'/);
      assert.doesNotMatch(answer.text, /evil/, 'nothing of the request is in the page');
    } else if (ends === 'asked') {
      assert.ok(location?.startsWith(`${world.origin}/#/connect/`), `${answer.status} ${location} ${answer.text}`);
    } else {
      const back = new URL(String(location));
      assert.equal(back.origin + back.pathname, REDIRECT);
      // Errors of other flows come in the fragment, as their clients expect them.
      const members = new URLSearchParams(back.search === '' ? back.hash.slice(1) : back.search);
      assert.equal(members.get('error'), ends.backWith, String(location));
      assert.equal(members.get('iss'), client.origin);
      assert.equal(members.get('code'), null);
    }
    assert.equal(answer.headers['access-control-allow-origin'], undefined, 'no page reads it');
  });
}

interface Allowed {
  readonly client: OutsideClient;
  readonly form: Readonly<Record<string, string>>;
}

/** A code that was given to the client, and its exchange as it should be. */
async function allowed(by = account): Promise<Allowed> {
  const client = new OutsideClient(world);
  const verifier = newVerifier();
  const id = await client.begin(client.parameters(clientId, verifier));
  const { continueAt } = await allowConnection(by, id);
  const code = (await client.goOn(continueAt)).searchParams.get('code') ?? '';
  const form = {
    ...{ grant_type: 'authorization_code', client_id: clientId, code, code_verifier: verifier },
    ...{ redirect_uri: REDIRECT, resource: client.resource() },
  };
  return { client, form };
}

test('an exchange with a wrong member gets nothing, and the right one still does unless it was used up', async () => {
  for (const { what, changes, error, spends } of EXCHANGE) {
    const { client, form } = await allowed();
    const answer = await client.send('/oauth/token', { body: changed(form, changes) });
    assert.deepEqual([answer.status >= 400, errorOf(answer)], [true, error], what);
    assert.equal((await client.exchanging(form)).status, spends ? 400 : 200, `${what}: afterwards`);
  }
});

test('a refresh with a wrong member gets nothing, and the right one still does unless it was used up', async () => {
  for (const { what, changes, error, spends } of REFRESH) {
    const connected = await connectClient(world, account, { scopes: ['tools:call:notes.*', 'tools:propose:*'] });
    const { client, tokens } = connected;
    const form = {
      ...{ grant_type: 'refresh_token', client_id: connected.clientId, refresh_token: tokens.refresh_token },
      resource: client.resource(),
    };
    const answer = await client.send('/oauth/token', { body: changed(form, changes) });
    assert.deepEqual([answer.status, errorOf(answer)], [400, error], what);
    assert.equal((await client.exchanging(form)).status, spends ? 400 : 200, `${what}: afterwards`);
  }
});

test('a narrower scope at a refresh holds for the access token, and the refresh token keeps what was given', async () => {
  const {
    client,
    clientId: id,
    tokens,
  } = await connectClient(world, account, {
    scopes: ['tools:call:notes.*', 'tools:propose:*'],
  });
  const narrow = (await client.refreshing(id, tokens.refresh_token, { scope: 'tools:propose:*' })).json as Tokens;
  assert.equal(narrow.scope, 'tools:propose:*');
  const again = (await client.refreshing(id, narrow.refresh_token)).json as Tokens;
  assert.equal(again.scope, tokens.scope);
});

for (const { what, metadata, error = 'invalid_client_metadata' } of METADATA) {
  test(`registration with ${what}`, async () => {
    const answer = await new OutsideClient(world).registering({ redirect_uris: [REDIRECT], ...metadata });
    assert.deepEqual([answer.status, errorOf(answer)], [400, error]);
  });
}

test('a registration gets no secret, no token, and no way to change what it said', async () => {
  const client = new OutsideClient(world);
  const asked = {
    ...{ client_name: 'X', redirect_uris: [REDIRECT], token_endpoint_auth_method: 'client_secret_post' },
    ...{ client_id: 'cli-chosen', client_secret: 'chosen', scope: 'admin', jwks_uri: 'https://169.254.169.254/' },
    ...{ logo_uri: 'https://evil.example/logo', application_type: 'web' },
  };
  const answer = (await client.registering(asked)).json as Record<string, unknown>;
  assert.deepEqual(Object.keys(answer).sort(), [
    'application_type',
    'client_id',
    'client_id_issued_at',
    'client_name',
    'grant_types',
    'redirect_uris',
    'response_modes',
    'response_types',
    'token_endpoint_auth_method',
  ]);
  assert.notEqual(answer.client_id, 'cli-chosen');
  for (const method of ['GET', 'PUT', 'DELETE'])
    assert.equal(problemCode(await client.send(`/oauth/register/${answer.client_id}`, { method })), 'not_found');
});

test('a registration that is no JSON, another type, or too large', async () => {
  const client = new OutsideClient(world);
  for (const body of ['', '[]', 'null', '{', '"x"'])
    assert.equal(errorOf(await client.registering(body)), 'invalid_client_metadata', body);
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  assert.equal(problemCode(await client.registering('a=b', form)), 'unsupported_media_type');
  const large = JSON.stringify({ redirect_uris: [REDIRECT], padding: 'a'.repeat(limits.clientRegistrationBody.value) });
  assert.equal(problemCode(await client.registering(large)), 'payload_too_large');
});

let documentsMade = 0;
/** An address of its own for each document, since what was fetched is kept. */
function documentAddress(): string {
  documentsMade += 1;
  return `https://${DOCUMENT_HOST}/client-${documentsMade}.json`;
}

function ask(id: string, redirectUri = 'http://127.0.0.1/cb'): Promise<RawAnswer> {
  const client = new OutsideClient(world);
  return client.authorizing(client.parameters(id, newVerifier(), { redirect_uri: redirectUri }));
}

test('a client with a document is asked about with the host of its redirect address and that of the document', async () => {
  const id = documentAddress();
  documents.answer = (_req, res) =>
    res.end(
      JSON.stringify({ client_id: id, client_name: 'Editor', redirect_uris: ['http://127.0.0.1/cb', OTHER_REDIRECT] }),
    );
  const answer = await ask(id, 'http://127.0.0.1:4711/cb');
  const request = String(answer.headers.location).split('#/connect/')[1];
  const shown = await account.browser.take<Record<string, unknown>>(`/v1/account/connection-requests/${request}`);
  assert.deepEqual(shown.client, { name: 'Editor', host: '127.0.0.1' }, 'a program, whichever document it points to');
  assert.equal(shown.documentHost, DOCUMENT_HOST);
  const { length } = documents.arrived;
  assert.equal((await ask(id)).status, 303);
  assert.equal(documents.arrived.length, length, 'it is fetched once');
});

for (const { what, text = '', status = 200, headers = {}, hangs } of DOCUMENTS) {
  test(`a document with ${what}`, async () => {
    const id = documentAddress();
    documents.answer = (_req, res) => {
      if (hangs === 'before') return;
      res.writeHead(status, { 'content-type': 'application/json', ...headers });
      if (hangs === 'within') res.write('{');
      else res.end(text.replace('ID', id));
    };
    const { length } = documents.arrived;
    const answer = await ask(id);
    assert.deepEqual([answer.status, answer.headers.location], [400, undefined]);
    assert.match(answer.text, /This client isn’t known here/);
    assert.equal(documents.arrived.length, length + 1, 'it was asked once, and nobody else');
  });
}

for (const { what, metadata } of METADATA) {
  test(`a document with ${what}`, async () => {
    const id = documentAddress();
    documents.answer = (_req, res) =>
      res.end(JSON.stringify({ client_id: id, redirect_uris: ['http://127.0.0.1/cb'], ...metadata }));
    const answer = await ask(id);
    assert.deepEqual([answer.status, answer.headers.location], [400, undefined]);
  });
}

for (const id of DOCUMENT_ADDRESSES) {
  test(`no document is fetched from ${id}`, async () => {
    const connections = documents.connections();
    const answer = await ask(id);
    assert.deepEqual([answer.status, answer.headers.location], [400, undefined]);
    assert.equal(documents.connections(), connections);
  });
}

test('who allows a request that began in another browser gives nothing away', async () => {
  const attacker = new OutsideClient(world);
  const verifier = newVerifier();
  const id = await attacker.begin(attacker.parameters(clientId, verifier));
  // The attacker has the cookie, and sends the victim the address of the shell.
  const { continueAt } = await allowConnection(account, id);
  const withoutDecision = `${attacker.origin}/oauth/authorize/${id}`;
  for (const url of [withoutDecision, `${withoutDecision}?decided=`, `${withoutDecision}?decided=${'x'.repeat(43)}`]) {
    const answer = await attacker.goingOn(url);
    assert.deepEqual([answer.status, answer.headers.location], [400, undefined], url);
  }
  // The victim's browser goes on, and has no cookie, or that of a request of its own.
  assert.equal((await attacker.goingOn(continueAt, '')).status, 400);
  const own = new OutsideClient(world);
  await own.begin(own.parameters(clientId, newVerifier()));
  assert.equal((await own.goingOn(continueAt)).status, 400);
});

test('a decision goes on once', async () => {
  const client = new OutsideClient(world);
  const id = await client.begin(client.parameters(clientId, newVerifier()));
  const { continueAt } = await allowConnection(account, id);
  const answers = await Promise.all([1, 2, 3].map(() => client.goingOn(continueAt)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [303, 400, 400]);
  assert.equal((await client.goingOn(continueAt)).status, 400);
});

test('in two tabs one decision counts, whichever they are', async () => {
  const client = new OutsideClient(world);
  const id = await client.begin(client.parameters(clientId, newVerifier()));
  const path = `/v1/account/connection-requests/${id}`;
  const [first, second] = [
    await confirm(account, 'connection.allow', id),
    await confirm(account, 'connection.allow', id),
  ];
  const answers = await Promise.all([
    account.browser.fetch(path, { body: { decision: 'allow', confirmation: first } }),
    account.browser.fetch(path, { body: { decision: 'allow', confirmation: second } }),
    account.browser.fetch(path, { body: { decision: 'deny' } }),
  ]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 404, 404]);
  assert.equal((await account.browser.fetch(path)).status, 404, 'it is not shown any more');
});

test('a request is not decided by a confirmation of another request, session or account, nor without one', async () => {
  const client = new OutsideClient(world);
  const [id, otherRequest] = [
    await client.begin(client.parameters(clientId, newVerifier())),
    await client.begin(client.parameters(clientId, newVerifier())),
  ];
  const path = `/v1/account/connection-requests/${id}`;
  const decide = async (confirmation: object | undefined, by: TestBrowser = account.browser) =>
    problemCode(await by.fetch(path, { body: { decision: 'allow', confirmation } }));
  const elsewhere = await signIn(world, account.authenticator);
  const stranger = await registerAccount(world, 'stranger');
  assert.equal(await decide(undefined), 'invalid_request');
  assert.equal(await decide(await confirm(account, 'connection.allow', otherRequest)), 'verification_failed');
  assert.equal(await decide(await confirm(elsewhere, 'connection.allow', id)), 'verification_failed');
  assert.equal(await decide(await confirm(stranger, 'connection.allow', id)), 'verification_failed');
  assert.equal(await decide(await confirm(account, 'author.allow')), 'verification_failed');
  const used = await confirm(account, 'connection.allow', id);
  await account.browser.take(path, { body: { decision: 'allow', confirmation: used } });
  const path2 = `/v1/account/connection-requests/${otherRequest}`;
  const again = await account.browser.fetch(path2, { body: { decision: 'allow', confirmation: used } });
  assert.equal(problemCode(again), 'verification_failed');
});

test('nobody allows more than was asked for', async () => {
  const client = new OutsideClient(world);
  const scope = 'tools:call:notes.* tools:propose:calendar.add';
  const wider = [
    'tools:call:*',
    'tools:call:note*',
    'tools:call:calendar.add',
    'tools:propose:*',
    'tools:propose:calendar.*',
  ];
  for (const one of wider) {
    const id = await client.begin(client.parameters(clientId, newVerifier(), { scope }));
    const confirmation = await confirm(account, 'connection.allow', id);
    const body = { decision: 'allow', confirmation, scopes: ['tools:call:notes.list', one] };
    const answer = await account.browser.fetch(`/v1/account/connection-requests/${id}`, { body });
    assert.equal(problemCode(answer), 'grants_exceed_request', one);
  }
  for (const scopes of [[], ['admin'], ['tools:call:*.x'], Array.from({ length: 101 }, () => 'tools:call:notes.a')]) {
    const id = await client.begin(client.parameters(clientId, newVerifier(), { scope }));
    const confirmation = await confirm(account, 'connection.allow', id);
    const body = { decision: 'allow', confirmation, scopes };
    const answer = await account.browser.fetch(`/v1/account/connection-requests/${id}`, { body });
    assert.equal(problemCode(answer), 'invalid_request', String(scopes));
  }
});

test('a denial gives the client an error and nothing else', async () => {
  const client = new OutsideClient(world);
  const id = await client.begin(client.parameters(clientId, newVerifier()));
  const { continueAt } = await account.browser.take<{ continueAt: string }>(`/v1/account/connection-requests/${id}`, {
    body: { decision: 'deny' },
  });
  const back = await client.goOn(continueAt);
  assert.deepEqual([...back.searchParams.keys()].sort(), ['error', 'error_description', 'iss', 'state']);
  assert.equal(back.searchParams.get('error'), 'access_denied');
});

test('a request is decided in time, and so is a code exchanged', async () => {
  const client = new OutsideClient(world);
  const { form } = await allowed();
  const late = await client.begin(client.parameters(clientId, newVerifier()));
  const decidedId = await client.begin(client.parameters(clientId, newVerifier()));
  const { continueAt } = await allowConnection(account, decidedId);
  try {
    ahead = (limits.connectionCodeSeconds.value + 1) * 1_000;
    assert.equal(errorOf(await client.exchanging(form)), 'invalid_grant');
    ahead = (limits.connectionRequestSeconds.value + 1) * 1_000;
    assert.equal((await account.browser.fetch(`/v1/account/connection-requests/${late}`)).status, 404);
    assert.equal((await client.goingOn(continueAt)).status, 400);
  } finally {
    ahead = 0;
  }
});

test('a code that is used again ends what came of it', async () => {
  const { client, form } = await allowed();
  const tokens = (await client.exchanging(form)).json as Tokens;
  assert.equal(errorOf(await client.exchanging(form)), 'invalid_grant');
  assert.equal(errorOf(await client.refreshing(clientId, tokens.refresh_token)), 'invalid_grant');
});

test('the answer names who gave it, so that a client cannot be mixed up', async () => {
  const client = new OutsideClient(world);
  const id = await client.begin(client.parameters(clientId, newVerifier()));
  const back = await client.goOn((await allowConnection(account, id)).continueAt);
  assert.equal(back.searchParams.get('iss'), client.origin);
  assert.equal(back.searchParams.get('state'), 'a-state');
});

test('tokens of connections open nothing else, and nothing else passes for one', async () => {
  const { tokens } = await connectClient(world, account);
  const host = new URL(world.origin).host;
  const call = (path: string, authorization: string) =>
    rawRequest({ port: world.port, path, headers: { host, authorization } });
  for (const path of [
    '/v1/auth/session',
    '/v1/apps',
    '/v1/account/connections',
    '/v1/services/notifications',
    '/v1/author',
  ]) {
    assert.equal(problemCode(await call(path, `Bearer ${tokens.access_token}`)), 'not_authorized', path);
    assert.equal(problemCode(await call(path, `Bearer ${tokens.refresh_token}`)), 'unauthenticated', path);
  }
  const { client, form } = await allowed();
  assert.equal(errorOf(await client.refreshing(clientId, tokens.access_token)), 'invalid_grant');
  assert.equal(errorOf(await client.refreshing(clientId, String(form.code))), 'invalid_grant');
  assert.equal(errorOf(await client.exchanging({ ...form, code: tokens.refresh_token })), 'invalid_grant');
  assert.equal(problemCode(await call('/v1/auth/session', `Bearer pct_${form.code}`)), 'unauthenticated');
});

test('a client revokes its own tokens alone, and learns nothing of others', async () => {
  const { client, tokens, clientId: own } = await connectClient(world, account);
  for (const token of [tokens.refresh_token, tokens.access_token, 'nothing']) {
    const answer = await client.send('/oauth/revoke', { body: { client_id: otherId, token } });
    assert.deepEqual([answer.status, answer.text], [200, '']);
  }
  assert.equal((await client.refreshing(own, tokens.refresh_token)).status, 200);
});

test('pages elsewhere may exchange and refresh, never with cookies, and may not begin or decide', async () => {
  const client = new OutsideClient(world);
  const headers = { origin: 'https://page.example' };
  const preflight = { ...headers, 'access-control-request-method': 'POST' };
  for (const path of ['/oauth/token', '/oauth/revoke', '/oauth/register', '/.well-known/oauth-authorization-server']) {
    const answer = await client.send(path, { method: 'OPTIONS', headers: preflight });
    assert.deepEqual([answer.status, answer.headers['access-control-allow-origin']], [204, '*'], path);
    assert.equal(answer.headers['access-control-allow-credentials'], undefined, path);
  }
  const answer = await client.exchanging({ grant_type: 'refresh_token' }, headers);
  assert.deepEqual([answer.headers['access-control-allow-origin'], answer.headers['set-cookie']], ['*', undefined]);
  const authorize = await client.send('/oauth/authorize', { method: 'OPTIONS', headers: preflight });
  assert.deepEqual([authorize.status, authorize.headers['access-control-allow-origin']], [405, undefined]);
  const id = await client.begin(client.parameters(clientId, newVerifier()));
  const path = `/v1/account/connection-requests/${id}`;
  for (const origin of ['https://page.example', client.origin, undefined]) {
    const refused = await account.browser.fetch(path, { body: { decision: 'deny' }, headers: { origin } });
    assert.equal(problemCode(refused), 'origin_not_allowed', origin);
  }
});

test('methods, types and sizes that are not offered', async () => {
  const client = new OutsideClient(world);
  const query = new URLSearchParams(client.parameters(clientId, newVerifier())).toString();
  assert.equal(problemCode(await client.send('/oauth/authorize', { body: query })), 'method_not_allowed');
  assert.equal(problemCode(await client.send(`/oauth/token?${query}`)), 'method_not_allowed');
  const large = `grant_type=refresh_token&client_id=${clientId}&refresh_token=${'a'.repeat(limits.connectionBody.value)}`;
  assert.equal(problemCode(await client.send('/oauth/token', { body: large })), 'payload_too_large');
  const json = { 'content-type': 'application/json' };
  assert.equal(errorOf(await client.send('/oauth/token', { body: '{}', headers: json })), 'invalid_request');
  const huge = await client.send(`/oauth/authorize?${query}&state=${'a'.repeat(100_000)}`);
  assert.ok(huge.status >= 400 && huge.headers.location === undefined);
});

test('a form whose members are in the address, or a credential in the head, is not read there', async () => {
  const { client, form } = await allowed();
  const query = new URLSearchParams(form).toString();
  assert.equal(errorOf(await client.send(`/oauth/token?${query}`, { body: 'x=1' })), 'invalid_request');
  const basic = { authorization: `Basic ${Buffer.from(`${clientId}:secret`).toString('base64')}` };
  const answer = await client.exchanging(form, basic);
  assert.equal(answer.status >= 400 && errorOf(answer) !== '', true, answer.text);
});

test('what else oidc-provider offers is not there, nor anything on another host', async () => {
  const client = new OutsideClient(world);
  const absent = [
    ...['/oauth/jwks', '/jwks', '/oauth/device', '/device', '/oauth/introspection', '/token/introspection', '/me'],
    ...['/oauth/userinfo', '/session/end', '/oauth/session/end', '/request', '/oauth/par', '/interaction/x', '/reg'],
    ...['/.well-known/openid-configuration', '/.well-known/oauth-protected-resource/mcp/NOTES', '/oauth/', '/v1/apps'],
  ];
  for (const path of absent) assert.ok((await client.send(path)).status >= 400, path);
  const host = new URL(world.origin).host;
  const shell = await client.send('/.well-known/oauth-authorization-server', { headers: { host } });
  assert.equal(shell.status, 404, 'on http the shell is no place for clients');
  for (const other of ['localhost', 'localhost:1', 'evil.example', `127.0.0.1:${world.port}`]) {
    const answer = await client.send('/oauth/token', { body: 'x=1', headers: { host: other } });
    assert.equal(problemCode(answer), 'unknown_host', other);
  }
});

test('no cookie but that of the request is ever set, for its own path alone', async () => {
  const client = new OutsideClient(world);
  const answer = await client.authorizing(client.parameters(clientId, newVerifier()));
  const set = answer.headers['set-cookie'] ?? [];
  assert.equal(set.length, 1);
  const id = cookieOf(answer).split('=')[1];
  assert.match(String(set[0]).toLowerCase(), /httponly/);
  assert.match(String(set[0]), new RegExp(`path=/oauth/authorize/${id}`));
  client.cookie = cookieOf(answer);
  const { continueAt } = await allowConnection(account, String(id));
  const back = await client.goingOn(continueAt);
  assert.deepEqual(
    (back.headers['set-cookie'] ?? []).filter((cookie) => !/expires=Thu, 01 Jan 1970/.test(cookie)),
    [],
    'nobody is signed in by it',
  );
});

test('who was allowed once is asked again the next time', async () => {
  const client = new OutsideClient(world);
  const { form } = await allowed();
  await client.exchanging(form);
  const answer = await client.authorizing(client.parameters(clientId, newVerifier()));
  assert.match(String(answer.headers.location), /#\/connect\//);
});
