// A wallet from before keys were kept apart: the keys of its receipts are kept, and policies are called as their approvals.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import pg from 'pg';
import { testDatabase } from '../../../../tests/support/postgres.ts';
import { migrate, ownMigrations } from './migrate.ts';

const MIGRATION = '0082-wallet-keys.sql';
const AT = '2026-11-20T10:00:00.123Z';
const uuid = (end: number) => `01890000-0000-7000-8000-00000000000${end}`;

test('keys are kept from receipts, policies get the UUID of their receipts, currencies keep their decimals', async () => {
  const database = await testDatabase();
  const client = new pg.Client({ connectionString: database.url });
  // Lengths that base64url writes without, with one and with two characters of padding.
  const keys = [randomBytes(75), randomBytes(76), randomBytes(77)];
  try {
    const migrations = (await ownMigrations()).filter(({ name }) => name < MIGRATION);
    await migrate(database.url, { version: '0.1.0', migrations });
    await client.connect();
    await client.query("INSERT INTO accounts (key, name, created_at) VALUES ('acct-1', 'ada', now())");
    const receipt = (end: number, operation: object, key: Buffer, credential: string) =>
      client.query(
        `INSERT INTO wallet_receipts (id, at, account_key, operation, operation_hash, assertion, assertion_hash, policies)
         VALUES ($1, $2, 'acct-1', $3, sha256(convert_to($3, 'UTF8')), $4, '\\x00', '[]')`,
        [
          `rcp-${uuid(end)}`,
          AT,
          JSON.stringify(operation),
          JSON.stringify({ credential: { id: credential }, publicKey: key.toString('base64url') }),
        ],
      );
    const policy = { account: 'ada@x', name: 'Small', recipientsRoot: 'aa'.repeat(32) };
    const [one = Buffer.of(), two = Buffer.of(), three = Buffer.of()] = keys;
    await receipt(1, policy, one, 'first');
    await receipt(2, { from: 'ada@x', nonce: '1' }, two, 'second');
    await receipt(3, { from: 'ada@x', nonce: '2' }, two, 'second');
    await receipt(4, { from: 'ben@x' }, three, 'third');
    for (const [id, name] of [
      ['pol-former', 'Small'],
      ['pol-other', 'Another'],
    ])
      await client.query(
        `INSERT INTO wallet_policies (id, account_key, name, currency, per_payment, root, leaves, created_at)
         VALUES ($1, 'acct-1', $2, 'CREDIT', 5, decode($3, 'hex'), '{}', $4)`,
        [id, name, policy.recipientsRoot, AT],
      );
    await client.query(
      `INSERT INTO wallet_policy_uses VALUES ('pol-former', 'rcp-${uuid(2)}', $1, 5), ('pol-other', 'rcp-${uuid(2)}', $1, 5)`,
      [AT],
    );
    await client.query(
      `INSERT INTO wallet_accounts (id, currency, decimals, issuer, head) VALUES ('wac-1', 'CREDIT', 3, true, '\\x00')`,
    );
    await migrate(database.url);
    const kept = await client.query('SELECT signer, credential_id, public_key FROM wallet_keys ORDER BY 1, 2');
    assert.deepEqual(kept.rows, [
      { signer: 'ada@x', credential_id: 'first', public_key: one },
      { signer: 'ada@x', credential_id: 'second', public_key: two },
      { signer: 'ben@x', credential_id: 'third', public_key: three },
    ]);
    const ids = async (column: string, table: string) =>
      (await client.query(`SELECT ${column} AS id FROM ${table} ORDER BY 1`)).rows.map(({ id }) => id);
    assert.deepEqual(await ids('id', 'wallet_policies'), [`pol-${uuid(1)}`, 'pol-other']);
    assert.deepEqual(await ids('policy_id', 'wallet_policy_uses'), [`pol-${uuid(1)}`, 'pol-other']);
    const { rows } = await client.query('SELECT * FROM wallet_currencies');
    assert.deepEqual(rows, [{ code: 'CREDIT', decimals: 3 }]);
  } finally {
    await client.end();
    await database.drop();
  }
});
