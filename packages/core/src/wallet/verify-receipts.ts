// Whether the receipts in the database were signed with the passkeys of those who approved them.
import { createHash } from 'node:crypto';
import { type Receipt, receipt } from '@platform/contract';
import { passkeysNamed } from '../accounts/face.ts';
import type { CoreConfig } from '../config/config.ts';
import type { Executor } from '../database/schema.ts';
import { signerOf } from './assertion.ts';
import { approvalOf, checkReceipt, type Known } from './check-books.ts';
import { everyKey, type KeyRow, keysOf } from './key-queries.ts';
import { keysByPasskey } from './known-keys.ts';
import { everyReceipt, type ReceiptRow, receiptsNamed } from './ledger-queries.ts';
import { recipientEntry } from './merkle.ts';
import type { Finding } from './rail.ts';

const PAGE = 500;

/** Kept keys against the passkeys that are still there. */
export async function* verifyKeys(db: Executor): AsyncGenerator<Finding> {
  for (let last: KeyRow | undefined; ; ) {
    const rows = await everyKey(db, last, PAGE);
    const passkeys = await passkeysNamed(
      db,
      rows.map(({ credential_id: id }) => id),
    );
    const byId = new Map(passkeys.map((passkey) => [passkey.id, passkey]));
    for (const { signer, credential_id: of, public_key: kept } of rows) {
      const passkey = byId.get(of);
      if (passkey === undefined) continue;
      if (passkey.name !== signer.split('@')[0])
        yield { of, what: `is kept as a passkey of ${signer}, and is none of theirs` };
      else if (!passkey.public_key.equals(kept)) yield { of, what: `the passkey of ${signer} has another public key` };
    }
    last = rows.at(-1);
    if (last === undefined) return;
  }
}

export async function* verifyReceipts(db: Executor, { origin, rpId }: CoreConfig): AsyncGenerator<Finding> {
  for (let last: ReceiptRow | undefined; ; ) {
    const rows = await everyReceipt(db, last?.id ?? '', PAGE);
    const known: Known = { place: { origin, rpId }, ...(await behind(db, readReceipts(rows))) };
    for (const row of rows) {
      if (!textHash(row.operation).equals(row.operation_hash))
        yield { of: row.id, what: 'its operation is not what its hash says' };
      if (!textHash(row.assertion).equals(row.assertion_hash))
        yield { of: row.id, what: 'its assertion is not what its hash says' };
      const stored = storedReceipt(row);
      yield* checkReceipt(stored, known);
      const read = receipt.safeParse(stored).data;
      const entry = row.payee_key === null ? null : recipientEntry(row.payee_key).toString('hex');
      if (entry !== null && read?.policies.some(({ leaf }) => leaf !== entry) === true)
        yield { of: row.id, what: 'its policies prove somebody else than who was paid' };
    }
    last = rows.at(-1);
    if (last === undefined) return;
  }
}

/** The keys and approvals of policies that these receipts are checked with. */
async function behind(
  db: Executor,
  receipts: ReadonlyMap<string, Receipt>,
): Promise<Pick<Known, 'keyOf' | 'receiptOf'>> {
  const all = [...receipts.values()];
  const signers = new Set(all.map(({ operation }) => signerOf(operation)));
  const rows = signers.size === 0 ? [] : await keysOf(db, [...signers]);
  const keys = keysByPasskey(
    rows.map(({ signer, credential_id: credentialId, public_key: publicKey }) => ({
      ...{ account: signer, credentialId, publicKey: publicKey.toString('base64url') },
    })),
  );
  const ids = new Set(all.flatMap(({ policies }) => policies.map(approvalOf)));
  const approvals = readReceipts(ids.size === 0 ? [] : await receiptsNamed(db, [...ids]));
  return {
    keyOf: (signer, credentialId) => keys.get(signer)?.get(credentialId),
    receiptOf: (id) => approvals.get(id),
  };
}

/** By id; without those that are malformed. */
export function readReceipts(rows: readonly ReceiptRow[]): ReadonlyMap<string, Receipt> {
  const read = rows.flatMap((row) => receipt.safeParse(storedReceipt(row)).data ?? []);
  return new Map(read.map((one) => [one.id as string, one]));
}

/** As it stands there, whatever that is. */
function storedReceipt({ id, at, operation, assertion, policies }: ReceiptRow): unknown {
  return { id, at: at.toISOString(), operation: json(operation), assertion: json(assertion), policies: json(policies) };
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function textHash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
