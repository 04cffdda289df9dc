// Whoever may write to the database, or to a file that a person keeps, cannot change what was approved without `platform wallet verify`
// finding it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type pg from 'pg';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { installTestApp } from '../../../../tests/support/installed-app.ts';
import { approve, credit, findings, payment, policyFor, propose, WALLET_GRANTS } from '../../test-support/wallet.ts';
import { verifyExport } from './verify-export.ts';

let world: Constellation;
let ada: TestAccount;
let exported: string;

before(async () => {
  world = await startConstellation();
  ada = await registerAccount(world, 'ada');
  const ben = await registerAccount(world, 'ben');
  const app = await installTestApp(world, ada, 'payer', WALLET_GRANTS);
  const back = await installTestApp(world, ben, 'payer-back', WALLET_GRANTS);
  await credit(world, 'ada', 10_000n);
  await credit(world, 'ben', 500n);
  await approve(ada, await propose(app, policyFor(['ben'], { perPayment: '900' })));
  for (const value of ['100', '200', '300'])
    await approve(ada, await propose(app, payment('ben', value, { reference: `for ${value}` })));
  await approve(ben, await propose(back, payment('ada', '50')));
  exported = (await ada.fetch('/v1/wallet/export?format=json')).text;
});
after(() => world?.close());

/** Of ada's second payment: where it stands in the chains. */
const PAID = "(SELECT id FROM wallet_entries WHERE reference = 'for 200' AND amount < 0)";
const RECEIVED = "(SELECT id FROM wallet_entries WHERE reference = 'for 200' AND amount > 0)";
const RECEIPT = "(SELECT receipt_id FROM wallet_entries WHERE reference = 'for 200' AND amount < 0)";
const OTHER_RECEIPT = "(SELECT receipt_id FROM wallet_entries WHERE reference = 'for 300' AND amount < 0)";
const ADA = "(SELECT id FROM wallet_accounts WHERE account_key = (SELECT key FROM accounts WHERE name = 'ada'))";
const BEN = "(SELECT id FROM wallet_accounts WHERE account_key = (SELECT key FROM accounts WHERE name = 'ben'))";
const entry = (change: string, which = PAID) => `UPDATE wallet_entries SET ${change} WHERE id = ${which}`;
const receipt = (change: string) => `UPDATE wallet_receipts SET ${change} WHERE id = ${RECEIPT}`;
const other = (column: string) => `(SELECT ${column} FROM wallet_receipts WHERE id = ${OTHER_RECEIPT})`;

/** What somebody does to the database, each undone afterwards. */
const IN_DATABASE: Readonly<Record<string, string>> = {
  'a smaller amount left': entry('amount = -20'),
  'a larger amount came': entry('amount = 2000', RECEIVED),
  'the same other amount on both sides':
    "UPDATE wallet_entries SET amount = amount * 2 WHERE transfer = (SELECT transfer FROM wallet_entries WHERE reference = 'for 200' LIMIT 1)",
  'a sign turned': entry('amount = -amount'),
  'a balance': entry('balance = balance + 1'),
  'the balance of a person': `UPDATE wallet_accounts SET balance = balance + 1000 WHERE id = ${BEN}`,
  'balances of two that make the same sum': `UPDATE wallet_accounts SET balance = balance + CASE WHEN id = ${BEN} THEN 100 ELSE -100 END WHERE id IN (${ADA}, ${BEN})`,
  'the head of a chain': `UPDATE wallet_accounts SET head = decode('00', 'hex') WHERE id = ${ADA}`,
  'the count of a chain': `UPDATE wallet_accounts SET entries = entries - 1 WHERE id = ${ADA}`,
  'the side of the operator': 'UPDATE wallet_accounts SET balance = 0 WHERE issuer',
  'another counterparty': entry("counterparty = 'eve@shell.platform.localhost'"),
  'no counterparty': entry('counterparty = NULL'),
  'another side': entry(`counterparty_id = ${ADA}`),
  'another reference': entry("reference = 'a gift'"),
  'no reference': entry('reference = NULL'),
  'another app': entry("app_id = 'other'"),
  'another time': entry("at = at + interval '1 day'"),
  'another kind': entry("kind = 'credit'"),
  'a credit called a payment': "UPDATE wallet_entries SET kind = 'payment' WHERE kind = 'credit'",
  'another receipt': entry(`receipt_id = ${OTHER_RECEIPT}`),
  'no receipt': entry('receipt_id = NULL'),
  'another hash of the operation': entry("operation_hash = decode('aa', 'hex')"),
  'another hash of the assertion': entry("assertion_hash = decode('aa', 'hex')"),
  'another hash of the policies': entry("policies_hash = decode('aa', 'hex')"),
  'another hash of the entry': entry("hash = decode('aa', 'hex')"),
  'another entry before': entry("previous = decode('aa', 'hex')"),
  'another number': entry('number = number + 100'),
  'another id of an entry': entry("id = 'wen-01890000-0000-7000-8000-000000000000'"),
  'another transfer': entry("transfer = 'wtx-other'"),
  'one entry removed': `DELETE FROM wallet_entries WHERE id = ${PAID}`,
  'a payment removed': "DELETE FROM wallet_entries WHERE reference = 'for 200'",
  'the newest payment removed': 'DELETE FROM wallet_entries WHERE at = (SELECT max(at) FROM wallet_entries)',
  'all of a person removed': `DELETE FROM wallet_entries WHERE account_id = ${BEN}`,
  'an entry moved to another side': entry(`account_id = ${BEN}, number = 99`),
  'an operation with another amount': receipt(`operation = replace(operation, '"value":"200"', '"value":"2"')`),
  'an operation to another person': receipt(`operation = replace(operation, '"to":"ben@', '"to":"eve@')`),
  'an operation and its hash': receipt(`operation = ${other('operation')}, operation_hash = decode('bb', 'hex')`),
  'the assertion of another payment': receipt(`assertion = ${other('assertion')}`),
  'the assertion of another payment with its hash': receipt(
    `assertion = ${other('assertion')}, assertion_hash = ${other('assertion_hash')}`,
  ),
  'a side that is nobody’s': `UPDATE wallet_accounts SET account_key = NULL WHERE id = ${ADA}`,
  'a receipt of who was paid': receipt('account_key = payee_key'),
  'a receipt for who paid': receipt('payee_key = account_key'),
  'another public key': receipt(`assertion = regexp_replace(assertion, '"publicKey":"....', '"publicKey":"AAAA')`),
  'an assertion that is no JSON': receipt("assertion = 'nothing'"),
  'other policies': receipt("policies = '[]'"),
  'a policy that never was': receipt(`policies = replace(policies, 'pol-', 'pol-0')`),
  'the time of a receipt': receipt("at = at - interval '1 hour'"),
  'a key removed': "DELETE FROM wallet_keys WHERE signer LIKE 'ada@%'",
  'another key': "UPDATE wallet_keys SET public_key = decode('aa', 'hex') WHERE signer LIKE 'ada@%'",
  'a key of another passkey': "UPDATE wallet_keys SET credential_id = 'other' WHERE signer LIKE 'ada@%'",
  'a receipt removed': `DELETE FROM wallet_receipts WHERE id = ${RECEIPT}`,
  'money from nowhere': `INSERT INTO wallet_entries SELECT account_id, number + 50, 'wen-02', 'wtx-02', 'credit', at, 700, balance + 700, counterparty_id,
     NULL, NULL, NULL, NULL, NULL, NULL, NULL, hash, hash FROM wallet_entries WHERE id = ${RECEIVED}`,
  'a payment twice': `INSERT INTO wallet_entries SELECT account_id, number + 50, id || 'x', transfer || 'x', kind, at, amount, balance, counterparty_id, counterparty,
     reference, app_id, receipt_id, operation_hash, assertion_hash, policies_hash, previous, hash FROM wallet_entries WHERE reference = 'for 200'`,
  'a receipt that nothing was paid by': `INSERT INTO wallet_receipts SELECT 'rcp-01890000-0000-7000-8000-000000000000', at, account_key, payee_key, operation,
     decode('cc', 'hex'), assertion, assertion_hash, policies FROM wallet_receipts WHERE id = ${RECEIPT}`,
  'a proposal that was carried out without a receipt':
    "UPDATE wallet_proposals SET receipt_id = 'rcp-x' WHERE id = (SELECT min(id) FROM wallet_proposals WHERE state = 'executed')",
  'a payment that was declined':
    "UPDATE wallet_proposals SET operation_hash = decode('dd', 'hex') WHERE state = 'executed'",
};

for (const [what, statement] of Object.entries(IN_DATABASE))
  test(`found in the database: ${what}`, async () => {
    const { pool } = world.core.context;
    const tables = ['wallet_accounts', 'wallet_entries', 'wallet_receipts', 'wallet_proposals', 'wallet_keys'];
    const client = await pool.connect();
    try {
      // As the owner of the server could: without the triggers, and without what refers to what.
      await client.query("SET session_replication_role = 'replica'");
      for (const name of tables) await client.query(`CREATE TABLE kept_${name} AS SELECT * FROM ${name}`);
      await client.query(statement);
      const changed = await changedRows(client, tables);
      assert.ok(changed > 0, 'the manipulation changed something');
      assert.notDeepEqual(await findings(world), []);
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
  });

async function changedRows(client: pg.PoolClient, tables: readonly string[]): Promise<number> {
  const counts = tables.map(
    (name) => `(SELECT count(*) FROM ((TABLE ${name} EXCEPT ALL TABLE kept_${name}) UNION ALL
      (TABLE kept_${name} EXCEPT ALL TABLE ${name})) AS changed)`,
  );
  const { rows } = await client.query<{ sum: string }>(`SELECT ${counts.join(' + ')} AS sum`);
  return Number(rows[0]?.sum);
}

test('the database itself refuses to change the ledger', async () => {
  const { pool } = world.core.context;
  for (const statement of [
    entry('amount = 1'),
    `DELETE FROM wallet_entries WHERE id = ${PAID}`,
    'TRUNCATE wallet_entries',
    receipt("policies = '[]'"),
    `DELETE FROM wallet_receipts WHERE id = ${RECEIPT}`,
  ])
    await assert.rejects(pool.query(statement), /append-only|violates foreign key/, statement);
});

/** An export as JSON, of which everything can be changed. */
interface Loose {
  origin: string;
  rpId: string;
  account: string;
  keys: Record<string, unknown>[];
  sides: Record<string, unknown>[];
  entries: Record<string, unknown>[];
  receipts: {
    id: string;
    operation: Record<string, unknown>;
    assertion: Record<string, unknown>;
    policies: Record<string, unknown>[];
  }[];
  [more: string]: unknown;
}
const paid = ({ entries }: Loose) => entries.find(({ reference }) => reference === 'for 200') ?? assert.fail();
const receiptOf = (file: Loose) => file.receipts.find(({ id }) => id === paid(file).receiptId) ?? assert.fail();

/** What somebody does to the file that a person keeps. */
const IN_EXPORT: Readonly<Record<string, (file: Loose) => unknown>> = {
  'an amount': (file) => Object.assign(paid(file), { amount: '-2' }),
  'a balance': (file) => Object.assign(paid(file), { balance: '1' }),
  'the balance of a side': (file) => Object.assign(file.sides[0] ?? {}, { balance: '999' }),
  'the head of a side': (file) => Object.assign(file.sides[0] ?? {}, { head: '00' }),
  'a counterparty': (file) => Object.assign(paid(file), { counterparty: 'eve@shell.platform.localhost' }),
  'a reference': (file) => Object.assign(paid(file), { reference: 'x' }),
  'the receipt of another': (file) => Object.assign(paid(file), { receiptId: file.receipts[0]?.id }),
  'an entry removed': (file) => void file.entries.splice(2, 1),
  'the last entry removed': (file) => void file.entries.pop(),
  'two entries changed places': (file) => void file.entries.splice(1, 2, ...file.entries.slice(1, 3).reverse()),
  'an entry twice': (file) => void file.entries.push(paid(file)),
  'a side removed': (file) => void file.sides.pop(),
  'a receipt removed': (file) => void file.receipts.splice(file.receipts.indexOf(receiptOf(file)), 1),
  'an operation to another person': (file) =>
    Object.assign(receiptOf(file).operation, { to: 'eve@shell.platform.localhost' }),
  'an operation with another nonce': (file) => Object.assign(receiptOf(file).operation, { nonce: 'other' }),
  'the assertion of another receipt': (file) => {
    const [first] = file.receipts.filter((one) => one !== receiptOf(file));
    receiptOf(file).assertion = first?.assertion ?? {};
  },
  'another public key': (file) => Object.assign(receiptOf(file).assertion, { publicKey: 'AAAA' }),
  'another origin': (file) => Object.assign(receiptOf(file).assertion, { origin: 'https://elsewhere.example' }),
  'another relying party': (file) => Object.assign(receiptOf(file).assertion, { rpId: 'elsewhere.example' }),
  'a key removed': (file) => void file.keys.pop(),
  'another key': (file) => Object.assign(file.keys[0] ?? {}, { publicKey: 'AAAA' }),
  'a second key for a passkey': (file) => void file.keys.push({ ...file.keys[0], publicKey: 'AAAA' }),
  'a key of another account': (file) => Object.assign(file.keys[0] ?? {}, { account: 'eve@shell.platform.localhost' }),
  'another account': (file) => Object.assign(file, { account: 'eve@shell.platform.localhost' }),
  'a proof': (file) => Object.assign(receiptOf(file).policies[0] ?? {}, { leaf: 'aa'.repeat(32) }),
  'no policies': (file) => Object.assign(receiptOf(file), { policies: [] }),
  'an unknown member': (file) => Object.assign(file, { extra: 1 }),
  'a member removed': (file) => void Reflect.deleteProperty(file, 'entries'),
};

for (const [what, manipulate] of Object.entries(IN_EXPORT))
  test(`found in an export: ${what}`, async () => {
    const file = JSON.parse(exported) as Loose;
    assert.deepEqual(await Array.fromAsync(verifyExport(file)), []);
    manipulate(file);
    assert.notEqual(JSON.stringify(file), JSON.stringify(JSON.parse(exported)));
    assert.notDeepEqual(await Array.fromAsync(verifyExport(file)), []);
  });

test('there are fifty manipulations and more', () => {
  assert.ok(Object.keys(IN_DATABASE).length + Object.keys(IN_EXPORT).length >= 50);
});
