// Whoever changes what was approved, signs it with a key of their own and makes every hash after it anew, is found by the keys of the
// passkeys, by the approvals of policies, and at last by keys that somebody kept elsewhere.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import type pg from 'pg';
import { confirm, newAuthenticator, registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';
import { approve, credit, findings, payment, policyFor, propose, WALLET_GRANTS } from '../../test-support/wallet.ts';
import {
  type Books,
  chainAnew,
  type ForgedReceipt,
  forgeDatabase,
  signAnew,
} from '../../test-support/wallet-forgery.ts';
import { readKeys } from './known-keys.ts';
import { inclusionProof, treeEntries, treeRoot } from './merkle.ts';
import { verifyExport } from './verify-export.ts';
import { verifyNow } from './verify-ledger.ts';

let world: Constellation;
let ada: TestAccount;
let app: InstalledTestApp;
let place: { readonly origin: string; readonly rpId: string };

before(async () => {
  world = await startConstellation();
  const { origin, rpId } = world.core.context.config;
  place = { origin, rpId };
  ada = await registerAccount(world, 'ada');
  await registerAccount(world, 'ben');
  await registerAccount(world, 'carol');
  app = await installTestApp(world, ada, 'payer', WALLET_GRANTS);
  await credit(world, 'ada', 10_000n);
  await approve(ada, await propose(app, policyFor(['ben', 'carol'], { perPayment: '900', name: 'Small' })));
  await approve(ada, await propose(app, payment('ben', '100', { reference: 'before' })));
  // From here on with another passkey; the first one is removed.
  const options = await ada.browser.begin('/v1/auth/passkeys/options');
  const next = newAuthenticator(world);
  const body = { challengeId: options.challengeId, credential: next.create(options) };
  await ada.browser.take('/v1/auth/passkeys/verify', { body });
  const { items } = await ada.browser.take<{ items: { id: string; label: string }[] }>('/v1/auth/passkeys');
  const first = items.find(({ label }) => label === 'Passkey 1')?.id;
  const removal = { confirmation: await confirm(ada, 'passkey.remove', first) };
  assert.equal((await ada.fetch(`/v1/auth/passkeys/${first}`, { method: 'DELETE', body: removal })).status, 204);
  ada = { ...ada, authenticator: next };
  await approve(ada, await propose(app, policyFor(['ben'], { perPayment: '2000', name: 'Large' })));
  await approve(ada, await propose(app, payment('ben', '200', { reference: 'after' })));
});
after(() => world?.close());

type Exported = Books & {
  account: string;
  keys: { account: string; credentialId: string; publicKey: string }[];
};

const exportOf = async (account: TestAccount) =>
  JSON.parse((await account.fetch('/v1/wallet/export?format=json')).text) as Exported;
const faults = (file: unknown, trusted: Parameters<typeof verifyExport>[1] = null) =>
  Array.fromAsync(verifyExport(file, trusted));
const of = ({ receipts }: Books, reference: string): ForgedReceipt =>
  receipts.find(({ operation }) => operation.reference === reference) ?? assert.fail(reference);
const policyNamed = ({ receipts }: Books, name: string): ForgedReceipt =>
  receipts.find(({ operation }) => operation.name === name) ?? assert.fail(name);
const passkeyOf = ({ assertion }: ForgedReceipt) => (assertion as { credential: { id: string } }).credential.id;

/** A tree of one's own, which includes the recipient. */
function ownTree(receipt: ForgedReceipt): { root: string; size: number; index: number; proof: string[] } {
  const entries = [Buffer.from(String(receipt.policies[0]?.leaf), 'hex'), ...treeEntries(['eve'])].sort(Buffer.compare);
  const index = entries.findIndex((entry) => entry.toString('hex') === receipt.policies[0]?.leaf);
  const proof = inclusionProof(entries, index).map((hash) => hash.toString('hex'));
  return { root: treeRoot(entries).toString('hex'), size: entries.length, index, proof };
}

const proofs = (receipt: ForgedReceipt): Record<string, unknown> =>
  receipt.policies[0] ?? assert.fail('a policy admitted it');

/** With every hash made anew; keys stay as they are. */
const FORGED: Readonly<Record<string, (books: Books) => unknown>> = {
  'a payment signed with another key': (books) => signAnew(of(books, 'after'), place),
  'a payment signed with another key for a passkey that was removed': (books) => signAnew(of(books, 'before'), place),
  'a payment signed with a passkey that nobody had': (books) => signAnew(of(books, 'after'), place, randomBytes(32)),
  'a policy signed with another key': (books) => signAnew(policyNamed(books, 'Large'), place),
  'a policy signed with another key, and its recipients': (books) => {
    const large = policyNamed(books, 'Large');
    Object.assign(large.operation, { recipientsRoot: ownTree(of(books, 'after')).root, recipientCount: 2 });
    for (const { policies } of books.receipts)
      for (const one of policies)
        if (one.policyId === large.id.replace('rcp', 'pol')) Object.assign(one, ownTree(of(books, 'after')));
    signAnew(large, place);
  },
  'a tree of recipients that nobody approved': (books) =>
    Object.assign(proofs(of(books, 'after')), ownTree(of(books, 'after'))),
  'a policy that was never approved': (books) =>
    Object.assign(proofs(of(books, 'after')), { policyId: `pol-${of(books, 'after').id.slice(4)}` }),
  'a policy for smaller payments': (books) => {
    const [small, large] = [policyNamed(books, 'Small'), of(books, 'after')];
    const { limits } = small.operation as { limits: { perPayment: string } };
    assert.ok(limits.perPayment === '900' && large.policies.length === 2);
    Object.assign(large.policies[0] ?? {}, { policyId: policyNamed(books, 'Large').id.replace('rcp', 'pol') });
  },
  'a policy of later': (books) => {
    const before = of(books, 'before');
    const later = of(books, 'after').policies.find(
      ({ policyId }) => policyId === policyNamed(books, 'Large').id.replace('rcp', 'pol'),
    );
    before.policies = [later ?? assert.fail('the later policy admitted it')];
  },
  'another place than that of the passkey': (books) =>
    Object.assign(of(books, 'after').assertion, { origin: 'https://eve.example' }),
  'another relying party': (books) => Object.assign(of(books, 'after').assertion, { rpId: 'eve.example' }),
  'no place, and another one for all': (books) => {
    const { origin: _, ...assertion } = of(books, 'after').assertion;
    of(books, 'after').assertion = { ...assertion, origin: 'https://other.example' };
  },
};

for (const [what, forge] of Object.entries(FORGED)) {
  test(`found in an export: ${what}`, async () => {
    const file = await exportOf(ada);
    assert.deepEqual(await faults(file), []);
    forge(file);
    chainAnew(file);
    assert.notDeepEqual(await faults(file), []);
  });

  test(`found in the database: ${what}`, () =>
    inDatabase(async (client) => {
      await forgeDatabase(client, forge);
      assert.notDeepEqual(await findings(world), []);
    }));
}

test('what nobody forged is found to hold, hashes made anew or not', async () => {
  const file = await exportOf(ada);
  chainAnew(file);
  assert.deepEqual(file, {
    ...(await exportOf(ada)),
    exportedAt: (file as unknown as { exportedAt: string }).exportedAt,
  });
  await inDatabase(async (client) => {
    await forgeDatabase(client, () => undefined);
    assert.deepEqual(await findings(world), []);
  });
});

test('found in the database: the kept key exchanged as well, while the passkey is there', () =>
  inDatabase(async (client) => {
    await forgeDatabase(client, async (books) => {
      const receipt = of(books, 'after');
      const key = Buffer.from(signAnew(receipt, place), 'base64url');
      await client.query('UPDATE wallet_keys SET public_key = $1 WHERE credential_id = $2', [key, passkeyOf(receipt)]);
    });
    assert.ok((await findings(world)).some(({ what }) => what.includes('has another public key')));
  }));

test('found in the database: a passkey of somebody else kept as one’s own', () =>
  inDatabase(async (client) => {
    await client.query("UPDATE wallet_keys SET signer = replace(signer, 'ada@', 'ben@')");
    assert.ok((await findings(world)).some(({ what }) => what.includes('is none of theirs')));
  }));

test('an export whose keys were exchanged too is found by keys that were kept elsewhere', async () => {
  const genuine = await exportOf(ada);
  const kept = readKeys(genuine) ?? assert.fail('the export names its keys');
  assert.equal(new Set(kept.map(({ credentialId }) => credentialId)).size, 2, 'of both passkeys, removed or not');
  const archive = { items: kept.map(({ credentialId, publicKey }) => ({ credentialId, publicKey, label: 'Passkey' })) };
  const ofAccount = readKeys(JSON.parse(JSON.stringify(archive))) ?? assert.fail('passkeys.json names them');
  for (const trusted of [kept, ofAccount]) {
    assert.deepEqual(await faults(genuine, trusted), []);
    const file = await exportOf(ada);
    for (const { credentialId } of file.keys) {
      const signed = file.receipts.filter((receipt) => passkeyOf(receipt) === credentialId);
      const [first, ...others] = signed;
      const key = signAnew(first ?? assert.fail(), place);
      // One authenticator signs one receipt here, so the others of this passkey go.
      file.receipts = file.receipts.filter((receipt) => !others.includes(receipt));
      for (const one of file.keys) if (one.credentialId === credentialId) one.publicKey = key;
    }
    chainAnew(file);
    const found = await faults(file, trusted);
    assert.ok(
      found.some(({ what }) => what.includes('that was given')),
      JSON.stringify(found),
    );
  }
  // A passkey that is not among them at all.
  const unknown = await faults(genuine, kept.slice(0, 1));
  assert.ok(unknown.some(({ what }) => what.includes('not among the public keys given')));
  assert.equal(readKeys({ other: [] }), null);
});

test('receipts hold after the platform moved to another origin', async () => {
  const { database, config } = world.core.context;
  const moved = { ...config, origin: 'https://new.example', rpId: 'new.example' };
  assert.deepEqual(await verifyNow(database, moved), []);
  const file = { ...(await exportOf(ada)), origin: moved.origin, rpId: moved.rpId };
  assert.deepEqual(await faults(file), []);
});

test('whoever was paid verifies it with the keys of who paid', async () => {
  const ben = await registerAccount(world, 'ben-2');
  await approve(ada, await propose(app, payment('ben', '5')));
  const policies = (await ada.browser.take<{ items: { id: string }[] }>('/v1/wallet/policies')).items;
  for (const { id } of policies) await ada.fetch(`/v1/wallet/policies/${id}`, { method: 'DELETE' });
  await approve(ada, await propose(app, payment('ben-2', '7')));
  const file = await exportOf(ben);
  assert.deepEqual([await faults(file), file.keys.length], [[], 1]);
  // Policies that are gone were approved nevertheless.
  assert.deepEqual([await faults(await exportOf(ada)), await findings(world)], [[], []]);
});

/** As the owner of the server could change it; undone afterwards. */
async function inDatabase(work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
  const client = await world.core.context.pool.connect();
  const tables = ['wallet_accounts', 'wallet_entries', 'wallet_receipts', 'wallet_keys'];
  try {
    await client.query("SET session_replication_role = 'replica'");
    for (const name of tables) await client.query(`CREATE TABLE kept_${name} AS SELECT * FROM ${name}`);
    await work(client);
  } finally {
    for (const name of tables) {
      await client.query(`DELETE FROM ${name}`);
      await client.query(`INSERT INTO ${name} SELECT * FROM kept_${name}`);
      await client.query(`DROP TABLE kept_${name}`);
    }
    await client.query("SET session_replication_role = 'origin'");
    client.release();
  }
  assert.deepEqual(await findings(world), []);
}
