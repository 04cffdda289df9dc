// What core tells a Gateway of the object store, and when it refuses.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { storeOfInstallation } from '@platform/contract';
import { EnvelopeOpener, newEnvelopeKey } from '@platform/link';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';
import { problemCode, type RawAnswer } from '../../../../tests/support/raw-http.ts';
import { bearer } from '../../test-support/apps.ts';
import { setPlan } from '../accounts/plan.ts';

const CREDENTIALS = { accessKeyId: 'AKSTORE', secretAccessKey: 'canary-of-the-store' };
const STORE = { endpoint: 'https://store.example', region: 'eu-1', bucket: 'objects', pathStyle: true };
const AUTHORIZE = '/v1/gateway/object-storage/authorize';
const key = await newEnvelopeKey();

let platform: Constellation;
let account: TestAccount;
let box: InstalledTestApp;
let credential: string;

before(async () => {
  platform = await startConstellation({ config: { objectStore: { ...STORE, credentials: CREDENTIALS } } });
  account = await registerAccount(platform, 'keeper');
  box = await installTestApp(platform, account, 'box', [{ id: 'object-storage.raw', resources: ['self'] }]);
  credential = await start({ envelopeKey: key.publicKey });
});
after(() => platform.close());

const accountKey = async (): Promise<string> => {
  const { rows } = await platform.core.context.pool.query<{ key: string }>(
    "SELECT key FROM accounts WHERE name = 'keeper'",
  );
  return rows[0]?.key ?? '';
};

async function start(body: object): Promise<string> {
  const path = `/v1/node/installations/${box.installationId}/starts`;
  const answer = await bearer(platform, platform.core.localNode.nodeCredential, path, body);
  assert.equal(answer.status, 200, answer.text);
  return (answer.json as { coreServiceCredential: string }).coreServiceCredential;
}

const authorize = (): Promise<RawAnswer> => bearer(platform, credential, AUTHORIZE, {});

function refused(answer: RawAnswer, status: number, code: string): void {
  assert.deepEqual([answer.status, problemCode(answer)], [status, code], answer.text);
}

test('the free plan, which is the default, has no object storage', async () => {
  refused(await authorize(), 403, 'plan_required');
});

test('the paid plan has its own part of the store, and the key in an envelope for this Gateway', async () => {
  await setPlan(platform.core.context, await accountKey(), 'paid');
  const answer = await authorize();
  assert.equal(answer.status, 200, answer.text);
  assert.ok(!answer.text.includes('canary'));
  const { envelope, ...store } = storeOfInstallation.parse(answer.json);
  const prefix = `installations/${box.installationId}/`;
  assert.deepEqual(store, { ...STORE, prefix });
  const bound = [STORE.endpoint, STORE.region, STORE.bucket, prefix];
  const about = { purpose: 'object-storage', installationId: box.installationId, bound };
  assert.deepEqual(JSON.parse((await new EnvelopeOpener(key).open(about, envelope)).toString()), CREDENTIALS);
  await assert.rejects(new EnvelopeOpener(await newEnvelopeKey()).open(about, envelope));
});

test('a node that is not the platform’s own gets none', async () => {
  const labels = (value: string) =>
    platform.core.context.pool.query('UPDATE nodes SET labels = $1 WHERE local', [`{${value}}`]);
  await labels('self-hosted');
  refused(await authorize(), 403, 'placement_not_allowed');
  await labels('platform-hosted');
  assert.equal((await authorize()).status, 200);
});

test('a Gateway without a key of its own gets nothing sealed', async () => {
  credential = await start({});
  refused(await authorize(), 503, 'unavailable');
  credential = await start({ envelopeKey: key.publicKey });
});

test('the grant counts at each question', async () => {
  const put = (permissions: object[]) =>
    account.browser.take('/v1/apps/box/permissions', { method: 'PUT', body: { permissions } });
  await put([]);
  refused(await authorize(), 403, 'grant_missing');
  await put([{ id: 'object-storage.raw', resources: ['self'] }]);
  assert.equal((await authorize()).status, 200);
  await setPlan(platform.core.context, await accountKey(), null);
  refused(await authorize(), 403, 'plan_required');
});
