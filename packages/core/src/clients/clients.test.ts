// Data-plane capabilities at core: what makes one, whose it is, what ends it, and what a node learns of it.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { assignments, limits, type ValidCapabilities } from '@platform/contract';
import { registerAccount, signIn, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { problemCode, type RawAnswer } from '../../../../tests/support/raw-http.ts';
import {
  addNode,
  bearer,
  install,
  installationRow,
  launchAny,
  nodeWorkload,
  publish,
  startedCredential,
} from '../../test-support/apps.ts';
import { controlCredential } from '../../test-support/node-double.ts';
import { suspendAccount } from '../accounts/suspension/suspend-account.ts';

const HOUR = 3_600_000;
const hashOf = (capability: string) => createHash('sha256').update(capability).digest('base64url');

let platform: Constellation;
let account: TestAccount;
let offset = 0;

before(async () => {
  platform = await startConstellation({
    clock: () => new Date(Date.now() + offset),
    config: { sessionMilliseconds: 20 * HOUR },
  });
  // The time of these tests goes further than a credential of the node.
  await platform.core.context.pool.query("UPDATE nodes SET credential_expires_at = 'infinity'");
  account = await registerAccount(platform, 'keeper');
  await publish(account, 'engine', { workload: nodeWorkload });
  await publish(account, 'other', { workload: nodeWorkload });
  await install(account, 'other');
});
after(() => platform.close());
beforeEach(async () => {
  offset = 0;
  await account.fetch('/v1/apps/engine', { method: 'DELETE' });
  await install(account, 'engine');
});

async function capabilityOf(who: TestAccount = account, appId = 'engine'): Promise<string> {
  const { backend } = await launchAny(who, appId);
  return backend?.capability ?? assert.fail();
}

const idOf = async (who: TestAccount = account, appId = 'engine') => (await installationRow(platform, who, appId)).id;

const asNode = (path: string, body?: unknown, credential = platform.core.localNode.nodeCredential) =>
  bearer(platform, credential, path, body);

/** Milliseconds that the node may accept each capability for; `null` for not at all. */
async function validAt(
  installationId: string,
  capabilities: readonly string[],
  credential?: string,
): Promise<(number | null)[]> {
  const hashes = capabilities.map(hashOf);
  const answer = await asNode(`/v1/node/installations/${installationId}/capabilities`, { hashes }, credential);
  assert.equal(answer.status, 200, answer.text);
  const { items } = answer.json as ValidCapabilities;
  return hashes.map((hash) => items.find((item) => item.hash === hash)?.endsInMilliseconds ?? null);
}

async function isValid(capability: string, appId = 'engine'): Promise<boolean> {
  const [left = null] = await validAt(await idOf(account, appId), [capability]);
  return left !== null;
}

/** What makes a node ask again. */
async function clientsRevision(who: TestAccount = account): Promise<number | undefined> {
  const id = await idOf(who);
  const { items } = assignments.parse((await asNode('/v1/node/assignments')).json);
  return items.find(({ installationId }) => installationId === id)?.clientsRevision;
}

function assertRefused(answer: RawAnswer, status: number, code: string): void {
  assert.deepEqual([answer.status, problemCode(answer)], [status, code], answer.text);
}

test('each launch has a capability of its own, of 256 random bits, for 12 hours', async () => {
  const [one, two] = [await capabilityOf(), await capabilityOf()];
  assert.match(one, /^pdc_[\w-]{43}$/);
  assert.notEqual(one, two);
  const [left = null] = await validAt(await idOf(), [one]);
  assert.ok(left !== null && left > 12 * HOUR - 60_000 && left <= 12 * HOUR, String(left));
  offset = 12 * HOUR;
  assert.equal(await isValid(one), false);
});

test('it does not outlive its session', async () => {
  offset = 15 * HOUR;
  const [left = null] = await validAt(await idOf(), [await capabilityOf()]);
  assert.ok(left !== null && left <= 5 * HOUR, String(left));
});

test('it belongs to one installation, and a node learns nothing of one that it does not run', async () => {
  const capability = await capabilityOf();
  assert.equal(await isValid(capability, 'other'), false);
  const stranger = await addNode(platform, `stranger-${randomBytes(3).toString('hex')}`);
  assert.deepEqual(await validAt(await idOf(), [capability], stranger.credential), [null]);
  assert.equal(await isValid(`pdc_${'A'.repeat(43)}`), false);
});

test('the database knows its hash alone', async () => {
  const capability = await capabilityOf();
  const { rows } = await platform.core.context.pool.query<{ line: string }>(
    'SELECT c::text AS line FROM data_plane_capabilities c WHERE token_hash = $1',
    [createHash('sha256').update(capability).digest()],
  );
  assert.equal(rows.length, 1);
  const dump = rows.map(({ line }) => line).join();
  assert.ok(!dump.includes(capability) && !dump.includes(Buffer.from(capability).toString('hex')));
});

test('signing out ends those of that session and of no other, and the node is to ask again', async () => {
  const elsewhere = await signIn(platform, account.authenticator);
  const [here, there] = [await capabilityOf(), await capabilityOf(elsewhere)];
  const before = await clientsRevision();
  assert.equal((await elsewhere.fetch('/v1/auth/logout', { body: {} })).status, 204);
  assert.deepEqual(await validAt(await idOf(), [here, there]).then((all) => all.map((left) => left !== null)), [
    true,
    false,
  ]);
  assert.equal(await clientsRevision(), Number(before) + 1);
});

test('signing in again in the same browser ends those of the session that it replaces', async () => {
  const browser = await signIn(platform, account.authenticator);
  const capability = await capabilityOf(browser);
  const options = await browser.browser.begin('/v1/auth/login/options');
  const body = { challengeId: options.challengeId, credential: account.authenticator.get(options) };
  await browser.browser.take('/v1/auth/login/verify', { body });
  assert.equal(await isValid(capability), false);
});

test('a session that is ended from another device takes its capabilities along', async () => {
  const elsewhere = await signIn(platform, account.authenticator);
  const capability = await capabilityOf(elsewhere);
  const { items } = await account.browser.take<{ items: { id: string; current: boolean }[] }>('/v1/auth/sessions');
  for (const { id } of items.filter(({ current }) => !current))
    assert.equal((await account.fetch(`/v1/auth/sessions/${id}`, { method: 'DELETE' })).status, 204);
  assert.equal(await isValid(capability), false);
});

test('an uninstallation ends them, and so they are at the next installation of the same app', async () => {
  const capability = await capabilityOf();
  const before = await clientsRevision();
  assert.equal((await account.fetch('/v1/apps/engine', { method: 'DELETE' })).status, 204);
  assert.equal(await isValid(capability), false);
  await install(account, 'engine');
  assert.equal(await isValid(capability), false);
  assert.notEqual(await clientsRevision(), before);
  const { rows } = await platform.core.context.pool.query(
    'SELECT FROM data_plane_capabilities WHERE installation_id = $1',
    [await idOf()],
  );
  assert.equal(rows.length, 0);
});

test('the owner disconnects all clients of an app at once, and the next launch works', async () => {
  const elsewhere = await signIn(platform, account.authenticator);
  const capabilities = [await capabilityOf(), await capabilityOf(elsewhere)];
  const ofOther = await capabilityOf(account, 'other');
  const before = await clientsRevision();
  assert.equal((await account.fetch('/v1/apps/engine/disconnect', { method: 'POST' })).status, 204);
  assert.deepEqual(await validAt(await idOf(), capabilities), [null, null]);
  assert.equal(await clientsRevision(), Number(before) + 1);
  assert.equal(await isValid(ofOther, 'other'), true);
  assert.equal(await isValid(await capabilityOf()), true);
  assertRefused(await account.fetch('/v1/apps/nothing/disconnect', { method: 'POST' }), 404, 'not_found');
  const stranger = await registerAccount(platform, 'stranger');
  assertRefused(await stranger.fetch('/v1/apps/engine/disconnect', { method: 'POST' }), 404, 'not_found');
});

test('disconnecting waits for the node until it has carried that out', async () => {
  const capability = await capabilityOf();
  const { revision } = assignments.parse((await asNode('/v1/node/assignments')).json);
  // The node has confirmed this revision and waits for the next.
  const poll = asNode(`/v1/node/assignments?after=${revision}`);
  await platform.core.context.signals.settled(platform.core.context.pool);
  let answered = false;
  const disconnected = account.fetch('/v1/apps/engine/disconnect', { method: 'POST' }).then((answer) => {
    answered = true;
    return answer.status;
  });
  const next = assignments.parse((await poll).json);
  assert.equal(answered, false);
  assert.equal(await isValid(capability), false);
  // Asking for the next one says that this one was carried out.
  const following = asNode(`/v1/node/assignments?after=${next.revision}`);
  assert.equal(await disconnected, 204);
  await account.fetch('/v1/apps/engine', { method: 'DELETE' });
  await following;
});

test('a suspended account has none, also after its end', async () => {
  const suspended = await registerAccount(platform, 'suspended');
  await install(suspended, 'engine');
  const capability = await capabilityOf(suspended);
  const id = await idOf(suspended);
  const before = await clientsRevision(suspended);
  await suspendAccount(platform.core.context, 'suspended');
  assert.deepEqual(await validAt(id, [capability]), [null]);
  assert.notEqual(await clientsRevision(suspended), before);
});

test('while the account is paused no launch gives one', async () => {
  await account.browser.take('/v1/runtime/pause', { body: {} });
  assertRefused(await account.fetch('/v1/apps/engine/launch', { body: {} }), 503, 'runtime_paused');
  await account.browser.take('/v1/runtime/resume', { body: {} });
});

test('an app has a bounded number in a session; the oldest end first', async () => {
  const first = await capabilityOf();
  const { pool } = platform.core.context;
  const id = await idOf();
  await pool.query(
    `INSERT INTO data_plane_capabilities (token_hash, installation_id, session_id, created_at, expires_at)
     SELECT convert_to('made up ' || n, 'UTF8'), installation_id, session_id, created_at + interval '1 ms', expires_at
       FROM data_plane_capabilities, generate_series(1, $2::int - 1) AS n WHERE installation_id = $1`,
    [id, limits.dataPlaneCapabilities.value],
  );
  const before = await clientsRevision();
  offset = 1_000;
  const last = await capabilityOf();
  assert.deepEqual([await isValid(first), await isValid(last)], [false, true]);
  assert.equal(await clientsRevision(), Number(before) + 1);
  const { rowCount } = await pool.query('SELECT FROM data_plane_capabilities WHERE installation_id = $1', [id]);
  assert.equal(rowCount, limits.dataPlaneCapabilities.value * 0.75);
});

test('expired ones are cleared away by later launches of whichever app', async () => {
  const expired = await capabilityOf();
  offset = 13 * HOUR;
  await capabilityOf(account, 'other');
  const { rowCount } = await platform.core.context.pool.query(
    'SELECT FROM data_plane_capabilities WHERE token_hash = $1',
    [createHash('sha256').update(expired).digest()],
  );
  assert.equal(rowCount, 0);
});

/** A start whose node made the capability, as the Runtime does. */
async function start(id: string): Promise<{ readonly capability: string; readonly credential: string }> {
  const capability = `pdc_${randomBytes(32).toString('base64url')}`;
  const body = { appCapabilityHash: hashOf(capability) };
  const answer = await asNode(`/v1/node/installations/${id}/starts`, body);
  assert.equal(answer.status, 200, answer.text);
  return { capability, credential: (answer.json as { coreServiceCredential: string }).coreServiceCredential };
}

test('the capability of a start ends ten minutes after the next start', async () => {
  const id = await idOf();
  const { capability: first } = await start(id);
  const [left = null] = await validAt(id, [first]);
  assert.ok(left !== null && left > 12 * HOUR - 60_000);
  const { capability: second } = await start(id);
  const [leftOfFirst = null, leftOfSecond = null] = await validAt(id, [first, second]);
  assert.ok(leftOfFirst !== null && leftOfFirst <= limits.appCapabilityOverlapSeconds.value * 1_000);
  assert.ok(leftOfSecond !== null && leftOfSecond > 12 * HOUR - 60_000);
  offset = limits.appCapabilityOverlapSeconds.value * 1_000 + 1_000;
  assert.deepEqual([await isValid(first), await isValid(second)], [false, true]);
});

test('a backend has a bounded number, however often it is started', async () => {
  const id = await idOf();
  const { capability: other } = await start(await idOf(account, 'other'));
  const starts = Array.from({ length: 2 * limits.dataPlaneCapabilities.value }, () => start(id));
  const made = await Promise.all(starts);
  const last = await start(id);
  const { rowCount } = await platform.core.context.pool.query(
    'SELECT FROM data_plane_capabilities WHERE installation_id = $1',
    [id],
  );
  assert.ok((rowCount ?? 0) <= limits.dataPlaneCapabilities.value, `${rowCount} after ${made.length} starts`);
  assert.deepEqual(
    [await isValid(last.capability), (await validAt(await idOf(account, 'other'), [other])).length],
    [true, 1],
  );
});

test('a backend gets another one without a restart, also after the owner has disconnected all', async () => {
  const id = await idOf();
  const { capability, credential } = await start(id);
  await account.fetch('/v1/apps/engine/disconnect', { method: 'POST' });
  assert.equal(await isValid(capability), false);
  const answer = await bearer(platform, credential, '/v1/services/runtime/capability', {});
  assert.equal(answer.status, 201, answer.text);
  const renewed = answer.json as { capability: string; expiresAt: string };
  assert.match(renewed.capability, /^pdc_[\w-]{43}$/);
  assert.equal(await isValid(renewed.capability), true);
});

test('a backend verifies what clients of its own protocol present', async () => {
  const credential = await startedCredential(platform, await idOf());
  const verify = async (capability: string) => {
    const answer = await bearer(platform, credential, '/v1/services/runtime/capability/verify', { capability });
    assert.equal(answer.status, 200, answer.text);
    return answer.json as { valid: boolean; expiresAt: string | null };
  };
  const capability = await capabilityOf();
  const verified = await verify(capability);
  assert.ok(verified.valid && Date.parse(verified.expiresAt ?? '') > Date.now());
  const none = { valid: false, expiresAt: null };
  for (const wrong of [await capabilityOf(account, 'other'), `pdc_${'A'.repeat(43)}`, credential, 'x'])
    assert.deepEqual(await verify(wrong), none);
  await account.fetch('/v1/apps/engine/disconnect', { method: 'POST' });
  assert.deepEqual(await verify(capability), none);
});

test('a node of a former version is given the one that it compares with, and so are the launches on it', async () => {
  const { pool } = platform.core.context;
  const registration = {
    controlUrl: 'http://127.0.0.1:9/control',
    controlCredential,
    inboundOrigin: 'http://node.platform.localhost:8788',
  };
  const assigned = async () => {
    const id = await idOf();
    const { items } = assignments.parse((await asNode('/v1/node/assignments')).json);
    return items.find(({ installationId }) => installationId === id) ?? assert.fail();
  };
  const register = async (more: object) =>
    assert.equal((await asNode('/v1/node/register', { ...registration, ...more })).status, 204);
  await register({});
  const former = await assigned();
  assert.equal(former.clientsRevision, undefined);
  assert.match(former.dataPlaneCapability ?? '', /^pdc_[\w-]{43}$/);
  assert.equal(await capabilityOf(), former.dataPlaneCapability);
  const credential = await startedCredential(platform, await idOf());
  assertRefused(await bearer(platform, credential, '/v1/services/runtime/capability', {}), 503, 'unavailable');
  await register({ asksCapabilities: true });
  const current = await assigned();
  assert.deepEqual([current.dataPlaneCapability, typeof current.clientsRevision], [undefined, 'number']);
  assert.notEqual(await capabilityOf(), former.dataPlaneCapability);
  assert.equal(await isValid(former.dataPlaneCapability ?? ''), false);
  // As before it registered.
  await pool.query('UPDATE nodes SET asks_capabilities = NULL, control_url = NULL, control_credential = NULL');
});
