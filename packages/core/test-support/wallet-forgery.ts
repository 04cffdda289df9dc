// Somebody who changes what was approved and makes every hash after it anew, with passkeys of their own.
import assert from 'node:assert/strict';
import type pg from 'pg';
import { encodeCbor } from '../../../tests/support/cbor.ts';
import { SoftwareAuthenticator } from '../../../tests/support/software-authenticator.ts';
import { canonicalHash, canonicalText, chainStart, entryHash } from '../src/wallet/chain.ts';
import type { HashedEntry } from '../src/wallet/check-books.ts';
import type { EntryRow, ReceiptRow } from '../src/wallet/ledger-queries.ts';
import { hashedEntryOf } from '../src/wallet/verify-ledger.ts';

/** Of an export, or of the database. */
export interface Books {
  sides: Record<string, unknown>[];
  entries: Record<string, unknown>[];
  receipts: ForgedReceipt[];
}

export interface ForgedReceipt {
  id: string;
  at: string;
  operation: Record<string, unknown>;
  assertion: Record<string, unknown>;
  policies: Record<string, unknown>[];
}

interface Place {
  readonly origin: string;
  readonly rpId: string;
}

/** Signs the receipt with a new key for the same passkey, or for one that never was. @returns the public key, base64url */
export function signAnew(receipt: ForgedReceipt, place: Place, credentialId?: Buffer): string {
  const authenticator = new SoftwareAuthenticator(place);
  const former = receipt.assertion as { credential: { id: string } };
  let key: Uint8Array = Buffer.alloc(0);
  authenticator.create(
    {
      publicKey: {
        challenge: 'AAAA',
        user: { id: 'AAAA' },
        excludeCredentials: [],
        pubKeyCredParams: [{ alg: -7 }],
      } as never,
    },
    {
      credentialId: credentialId ?? Buffer.from(former.credential.id, 'base64url'),
      coseKey(map) {
        key = encodeCbor(map);
        return map;
      },
    },
  );
  const challenge = canonicalHash(receipt.operation).toString('base64url');
  const { response, ...credential } = authenticator.get({ publicKey: { challenge } as never });
  const { userHandle: _, ...signed } = response;
  const publicKey = Buffer.from(key).toString('base64url');
  receipt.assertion = { credential: { ...credential, response: signed }, publicKey, ...place };
  return publicKey;
}

/** Every hash of entries and sides, of what the books say now. */
export function chainAnew({ sides, entries, receipts }: Books): void {
  const byId = new Map(receipts.map((receipt) => [receipt.id, receipt]));
  for (const side of sides) {
    let previous = chainStart(String(side.account), String(side.currency)).toString('hex');
    for (const entry of entries.filter(({ account }) => account === side.account)) {
      const receipt = byId.get(String(entry.receiptId));
      if (receipt !== undefined)
        Object.assign(entry, {
          operationHash: canonicalHash(receipt.operation).toString('hex'),
          assertionHash: canonicalHash(receipt.assertion).toString('hex'),
          ...(entry.policiesHash === null ? {} : { policiesHash: canonicalHash(receipt.policies).toString('hex') }),
        });
      const { hash: _, ...chained } = { ...entry, previous } as unknown as HashedEntry;
      previous = entryHash(chained).toString('hex');
      Object.assign(entry, { previous: chained.previous, hash: previous });
    }
    side.head = previous;
  }
}

/** Changes the books in the database, hashes included. */
export async function forgeDatabase(client: pg.PoolClient, forge: (books: Books) => unknown): Promise<void> {
  const { rows: sides } = await client.query('SELECT id AS account, currency FROM wallet_accounts ORDER BY id');
  const { rows: entries } = await client.query<EntryRow & { currency: string }>(
    'SELECT e.*, a.currency FROM wallet_entries e JOIN wallet_accounts a ON a.id = e.account_id ORDER BY account_id, number',
  );
  const { rows: receipts } = await client.query<ReceiptRow>('SELECT * FROM wallet_receipts');
  const books: Books = {
    sides,
    entries: entries.map((row) => ({ ...hashedEntryOf(row, row.currency) })),
    receipts: receipts.map(({ id, at, operation, assertion, policies }) => ({
      ...{ id, at: at.toISOString(), operation: JSON.parse(operation) },
      ...{ assertion: JSON.parse(assertion), policies: JSON.parse(policies) },
    })),
  };
  assert.ok(books.receipts.length > 0);
  await forge(books);
  chainAnew(books);
  const hex = (value: unknown) => (typeof value === 'string' ? Buffer.from(value, 'hex') : null);
  for (const { id, operation, assertion, policies } of books.receipts)
    await client.query(
      `UPDATE wallet_receipts SET operation = $2, operation_hash = $3, assertion = $4, assertion_hash = $5, policies = $6
        WHERE id = $1`,
      [
        ...[id, canonicalText(operation), canonicalHash(operation), canonicalText(assertion)],
        ...[canonicalHash(assertion), JSON.stringify(policies)],
      ],
    );
  for (const entry of books.entries)
    await client.query(
      `UPDATE wallet_entries SET operation_hash = $2, assertion_hash = $3, policies_hash = $4, previous = $5, hash = $6
        WHERE id = $1`,
      [
        entry.id,
        ...[entry.operationHash, entry.assertionHash, entry.policiesHash, entry.previous, entry.hash].map(hex),
      ],
    );
  for (const { account, head } of books.sides)
    await client.query('UPDATE wallet_accounts SET head = $2 WHERE id = $1', [account, hex(head)]);
}
