// From a client that knows nothing to tokens, and back to none; what the tokens are good for meanwhile.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type Connection, limits, type Notification } from '@platform/contract';
import {
  confirm,
  newAuthenticator,
  registerAccount,
  signIn,
  type TestAccount,
} from '../../../../tests/support/client.ts';
import {
  allowConnection,
  type Connected,
  connectClient,
  newVerifier,
  OutsideClient,
  REDIRECT,
  type Tokens,
} from '../../../../tests/support/connected-client.ts';
import { type Constellation, startConstellation, type TestCore } from '../../../../tests/support/constellation.ts';
import { problemCode, rawRequest } from '../../../../tests/support/raw-http.ts';
import { until } from '../../../../tests/support/wait.ts';
import { deleteAccount, resumeSuspended, suspendAccount } from '../accounts/face.ts';
import { connectChallenge, readResource } from './addresses.ts';
import { connectionCaller, serves } from './connection-caller.ts';
import { sweepConnections } from './sweep.ts';

let world: Constellation;
let replica: TestCore;
/** By which the clock of core is ahead. */
let ahead = 0;

before(async () => {
  world = await startConstellation({ clock: () => new Date(Date.now() + ahead) });
  replica = await world.replica();
});
after(() => world.close());

let accounts = 0;
function newAccount(): Promise<TestAccount> {
  accounts += 1;
  return registerAccount(world, `outside-${accounts}`);
}

async function connectionsOf(account: TestAccount): Promise<Connection[]> {
  return (await account.browser.take<{ items: Connection[] }>('/v1/account/connections')).items;
}

/** What core makes of an access token on a route that no client outside may call: `not_authorized` while it knows it. */
async function standing(token: string, { port, context }: TestCore = world.core): Promise<string> {
  const { host } = new URL(context.config.origin);
  const headers = { host, authorization: `Bearer ${token}` };
  return problemCode(await rawRequest({ port, path: '/v1/auth/session', headers }));
}

const VALID = 'not_authorized';
const ENDED = 'unauthenticated';

async function ended(token: string): Promise<void> {
  for (const core of [world.core, replica])
    await until(`core at ${core.port} to refuse it`, async () => (await standing(token, core)) === ENDED);
}

function errorOf({ json }: { readonly json: unknown }): string {
  return String((json as { error?: unknown }).error);
}

test('what a client reads on its way from a refusal to a token', async () => {
  const client = new OutsideClient(world);
  const challenge = connectChallenge(world.core.context.config, { app: 'notes' }, { error: 'invalid_token' });
  const where = /resource_metadata="([^"]+)"/.exec(challenge)?.[1] ?? '';
  assert.equal(where, `${client.origin}/.well-known/oauth-protected-resource/mcp/notes`);
  const resource = (await client.send(where.slice(client.origin.length))).json as Record<string, unknown>;
  assert.equal(resource.resource, client.resource('notes'));
  assert.deepEqual(resource.authorization_servers, [client.origin]);
  const all = (await client.send('/.well-known/oauth-protected-resource/mcp')).json as Record<string, unknown>;
  assert.equal(all.resource, client.resource());
  assert.deepEqual((await client.send('/.well-known/oauth-protected-resource')).json, all);
  const server = (await client.send('/.well-known/oauth-authorization-server')).json as Record<string, unknown>;
  assert.equal(server.issuer, client.origin);
  assert.deepEqual(server.code_challenge_methods_supported, ['S256']);
  for (const member of ['authorization_endpoint', 'token_endpoint', 'registration_endpoint', 'revocation_endpoint'])
    assert.ok(String(server[member]).startsWith(`${client.origin}/oauth/`), member);
});

test('a resource is exactly the address of the tools of all apps, or of one', () => {
  const { config } = world.core.context;
  const { origin } = new OutsideClient(world);
  assert.deepEqual(readResource(config, `${origin}/mcp`), { app: null });
  assert.deepEqual(readResource(config, `${origin}/mcp/notes`), { app: 'notes' });
  const others = [
    '/mcp/',
    '/mcp/notes/',
    '/mcp/Notes',
    '/mcp/a b',
    '/mcp?x',
    '/mcp#x',
    '/MCP',
    '',
    '/',
    '/mcp/notes?x=1',
  ];
  for (const path of others) assert.equal(readResource(config, origin + path), null, path);
  for (const other of ['https://evil.example/mcp', `${origin}.evil.example/mcp`, `${world.origin}/mcp`])
    assert.equal(readResource(config, other), null, other);
  assert.ok(serves({ app: null }, 'notes') && serves({ app: 'notes' }, 'notes'));
  assert.ok(!serves({ app: 'notes' }, null) && !serves({ app: 'notes' }, 'other'));
});

test('a connected client holds what was chosen, is listed, and its person is told', async () => {
  const account = await newAccount();
  const { tokens } = await connectClient(world, account, { scopes: ['tools:call:notes.*', 'tools:propose:*'] });
  assert.equal(tokens.scope, 'tools:call:notes.* tools:propose:*');
  assert.equal(tokens.expires_in, limits.connectionTokenSeconds.value);
  assert.equal(await standing(tokens.access_token), VALID);
  const [connection, ...others] = await connectionsOf(account);
  assert.deepEqual(others, []);
  assert.deepEqual(connection?.client, { name: 'A test client', host: '127.0.0.1' });
  assert.deepEqual(connection?.scopes, ['tools:call:notes.*', 'tools:propose:*']);
  assert.ok(connection?.lastUsedAt !== null, 'it was used a moment ago');
  await until('the notice', async () => {
    const { items } = await account.browser.take<{ items: Notification[] }>('/v1/notifications');
    return items.some(({ title }) => title === 'A client may use your tools');
  });
});

test('chosen beforehand are the tools that only read, and everything else to propose', async () => {
  const account = await newAccount();
  const { tokens } = await connectClient(world, account);
  const scopes = tokens.scope.split(' ');
  assert.ok(scopes.includes('tools:call:platform-notifications.list') && scopes.includes('tools:propose:*'));
  const calls = scopes.filter((scope) => scope.startsWith('tools:call:'));
  assert.ok(calls.every((scope) => /\.(?:list|get|query|identity|resolve|conversations|messages|sync)$/.test(scope)));
  const one = await connectClient(world, account, { app: 'notes' });
  assert.equal(one.tokens.scope, 'tools:propose:*', 'tools of an app say of themselves that they only read');
});

test('nothing in the database is worth anything to who reads it', async () => {
  const account = await newAccount();
  const { client, clientId, tokens } = await connectClient(world, account);
  const id = await client.begin(client.parameters(clientId, newVerifier()));
  const { continueAt } = await allowConnection(account, id);
  const code = (await client.goOn(continueAt)).searchParams.get('code') ?? '';
  const undecided = await client.begin(client.parameters(clientId, newVerifier()));
  const { rows } = await world.core.context.pool.query<{ row: string }>(
    `SELECT t::text AS row FROM connection_tokens t UNION ALL SELECT r::text FROM connection_requests r
     UNION ALL SELECT c::text FROM connections c UNION ALL SELECT l::text FROM connection_clients l`,
  );
  assert.ok(rows.length >= 4);
  const secrets = [
    tokens.access_token,
    tokens.refresh_token,
    code,
    undecided,
    new URL(continueAt).searchParams.get('decided'),
  ];
  for (const secret of secrets) {
    assert.ok(secret !== null && secret.length > 20);
    assert.ok(!rows.some(({ row }) => row.includes(secret)), secret);
  }
  const logged = JSON.stringify(world.log);
  assert.ok(!secrets.some((secret) => logged.includes(String(secret))), 'nor in the log');
});

test('a refresh token works once, and its second use ends the connection', async () => {
  const account = await newAccount();
  const { client, clientId, tokens } = await connectClient(world, account);
  const answer = await client.refreshing(clientId, tokens.refresh_token);
  assert.equal(answer.status, 200, answer.text);
  const second = answer.json as Tokens;
  assert.notEqual(second.refresh_token, tokens.refresh_token);
  assert.equal(second.scope, tokens.scope);
  assert.equal(await standing(second.access_token), VALID);
  assert.equal(await standing(second.access_token, replica), VALID);
  const again = await client.refreshing(clientId, tokens.refresh_token);
  assert.deepEqual([again.status, errorOf(again)], [400, 'invalid_grant']);
  await ended(second.access_token);
  assert.equal(errorOf(await client.refreshing(clientId, second.refresh_token)), 'invalid_grant');
  assert.deepEqual(await connectionsOf(account), []);
});

test('of two uses of a refresh token at once nobody keeps what one of them got', async () => {
  for (let round = 0; round < 5; round += 1) {
    const account = await newAccount();
    const { client, clientId, tokens } = await connectClient(world, account);
    const answers = await Promise.all([1, 2, 3].map(() => client.refreshing(clientId, tokens.refresh_token)));
    assert.ok(answers.filter(({ status }) => status === 200).length <= 1);
    for (const { status, json } of answers) {
      if (status === 200) await ended((json as Tokens).access_token);
      else assert.equal(status, 400);
    }
    assert.deepEqual(await connectionsOf(account), []);
  }
});

test('of two exchanges of a code at once nobody keeps what one of them got', async () => {
  const account = await newAccount();
  const client = new OutsideClient(world);
  const { client_id } = await client.register();
  const verifier = newVerifier();
  const id = await client.begin(client.parameters(client_id, verifier));
  const { continueAt } = await allowConnection(account, id);
  const code = (await client.goOn(continueAt)).searchParams.get('code') ?? '';
  const form = { grant_type: 'authorization_code', client_id, code, code_verifier: verifier, redirect_uri: REDIRECT };
  const answers = await Promise.all([1, 2, 3].map(() => client.exchanging(form)));
  assert.ok(answers.filter(({ status }) => status === 200).length <= 1);
  assert.deepEqual(await connectionsOf(account), []);
});

/** Each with what ends it. */
const ENDS: Readonly<Record<string, (account: TestAccount, connected: Connected) => Promise<unknown>>> = {
  'its person disconnects it': async (account) => {
    const [connection] = await connectionsOf(account);
    const answer = await account.browser.fetch(`/v1/account/connections/${connection?.id}`, { method: 'DELETE' });
    assert.equal(answer.status, 204);
  },
  'it revokes its refresh token': (_account, { client, clientId, tokens }) =>
    client.send('/oauth/revoke', { body: { client_id: clientId, token: tokens.refresh_token } }),
  'it revokes its access token': (_account, { client, clientId, tokens }) =>
    client.send('/oauth/revoke', { body: { client_id: clientId, token: tokens.access_token } }),
  'the account is suspended': ({ name }) => suspendAccount(world.core.context, name),
  'the account is deleted': ({ name }) => deleteAccount(world.core.context, { name }),
  'its owner asks for the deletion of the account': async (account) => {
    const confirmation = await confirm(account, 'account.delete');
    await account.browser.take('/v1/account/deletion', { body: { name: account.name, confirmation } });
  },
};

for (const [what, end] of Object.entries(ENDS)) {
  test(`the next request is refused once ${what}, on every core`, async () => {
    const account = await newAccount();
    const connected = await connectClient(world, account);
    const { access_token: token, refresh_token: refresh } = connected.tokens;
    for (const core of [world.core, replica]) assert.equal(await standing(token, core), VALID);
    await end(account, connected);
    await ended(token);
    assert.equal(errorOf(await connected.client.refreshing(connected.clientId, refresh)), 'invalid_grant');
  });
}

test('a suspension ends it for good; a pause refuses it for as long as it lasts', async () => {
  const suspended = await newAccount();
  const first = await connectClient(world, suspended);
  await suspendAccount(world.core.context, suspended.name);
  await resumeSuspended(world.core.context, suspended.name);
  assert.equal(await standing(first.tokens.access_token), ENDED);

  const paused = await newAccount();
  const { tokens } = await connectClient(world, paused);
  const scheme = connectionCaller(world.core.context);
  const find = async () => {
    assert.ok('find' in scheme.presented);
    const { hashCredential } = await import('../credentials/credential.ts');
    return scheme.presented.find(hashCredential(tokens.access_token));
  };
  const spec = {
    method: 'GET',
    path: '/mcp',
    summary: '',
    callers: ['connection'],
    answers: {},
    rate: 'service',
  } as const;
  const refusal = async () => {
    const caller = await find();
    assert.ok(caller !== null);
    return scheme.refusal?.(caller, spec)?.refusal.code;
  };
  assert.equal(await refusal(), undefined);
  await paused.browser.take('/v1/runtime/pause', { body: {} });
  assert.equal(await refusal(), 'runtime_paused');
  await paused.browser.take('/v1/runtime/resume', { body: {} });
  assert.equal(await refusal(), undefined);
});

test('what a passkey allowed ends when the passkey is removed', async () => {
  const account = await newAccount();
  const kept = await connectClient(world, account);
  const other = newAuthenticator(world);
  const options = await account.browser.begin('/v1/auth/passkeys/options', {
    confirmation: await confirm(account, 'passkey.add'),
  });
  const { passkey } = await account.browser.take<{ passkey: { id: string } }>('/v1/auth/passkeys/verify', {
    body: { challengeId: options.challengeId, credential: other.create(options) },
  });
  const withOther = await signIn(world, other);
  const lost = await connectClient(world, withOther);
  assert.equal(await standing(lost.tokens.access_token), VALID);
  const confirmation = await confirm(account, 'passkey.remove', passkey.id);
  await account.browser.take(`/v1/auth/passkeys/${passkey.id}`, { method: 'DELETE', body: { confirmation } });
  await ended(lost.tokens.access_token);
  assert.equal(await standing(kept.tokens.access_token), VALID);
});

test('beyond the limit the least recently used connection ends', async () => {
  const account = await newAccount();
  const first = await connectClient(world, account);
  const { pool } = world.core.context;
  // As many as there may be, besides it.
  await pool.query(
    `INSERT INTO connections (id, account_key, client_id, client_name, client_host, client_origin, scopes, passkey_id, created_at)
     SELECT 'con-' || n, c.account_key, c.client_id, 'x', 'x', 'x', c.scopes, c.passkey_id, c.created_at + interval '1 minute'
     FROM connections c, generate_series(1, $2::integer) n WHERE c.account_key = (SELECT key FROM accounts WHERE name = $1)`,
    [account.name, limits.connectionsPerAccount.value - 1],
  );
  const last = await connectClient(world, account);
  await ended(first.tokens.access_token);
  assert.equal(await standing(last.tokens.access_token), VALID);
});

test('pages of the client may use its token, and no others; programs send no Origin', () => {
  const { from } = connectionCaller(world.core.context);
  assert.ok(typeof from === 'object' && 'allows' in from);
  const allows = (own: string, sent: string | undefined) =>
    from.allows({ origin: own } as Parameters<typeof from.allows>[0], sent);
  assert.ok(allows('https://client.example', undefined));
  assert.ok(allows('https://client.example', 'https://client.example'));
  assert.ok(allows('http://localhost:6274', 'http://localhost:9999'));
  for (const sent of [
    'https://evil.example',
    'http://client.example',
    'https://client.example:8443',
    'null',
    '',
    world.origin,
  ])
    assert.ok(!allows('https://client.example', sent), sent);
  for (const sent of ['http://127.0.0.1:6274', 'https://localhost:6274', 'http://localhost.evil.example', 'null'])
    assert.ok(!allows('http://localhost:6274', sent), sent);
});

test('what has expired is removed', async () => {
  const account = await newAccount();
  const { client, clientId, tokens } = await connectClient(world, account);
  const unused = await client.register();
  await client.begin(client.parameters(clientId, newVerifier()));
  const { context } = world.core;
  const count = async (table: string) =>
    Number((await context.pool.query<{ n: string }>(`SELECT count(*) AS n FROM ${table}`)).rows[0]?.n);
  const sweep = async () => {
    while (await sweepConnections(context, context.time.proven()));
  };
  const before = ahead;
  try {
    ahead += (limits.connectionTokenSeconds.value + 1) * 1_000;
    await context.time.sweep();
    assert.equal(await standing(tokens.access_token), ENDED, 'expired');
    ahead += limits.unusedClientSeconds.value * 1_000;
    await context.time.sweep();
    await sweep();
    assert.equal(await count('connection_requests'), 0);
    const { rows } = await context.pool.query('SELECT id FROM connection_clients WHERE id IN ($1, $2)', [
      clientId,
      unused.client_id,
    ]);
    assert.deepEqual(rows, [{ id: clientId }]);
    assert.equal(errorOf(await client.refreshing(clientId, randomBytes(32).toString('base64url'))), 'invalid_grant');
  } finally {
    ahead = before;
  }
});
