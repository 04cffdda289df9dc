// The whole statement of an account as a file: a table for people, or everything that verifies it.
import { everyRow } from '../account-files.ts';
import type { CoreContext } from '../context.ts';
import { signerOf } from './assertion.ts';
import { textCell } from './csv.ts';
import { type KeyRow, keysOf } from './key-queries.ts';
import {
  type EntryRow,
  entriesOfSide,
  type LedgerSide,
  type ReceiptRow,
  receiptsOf,
  sidesOf,
} from './ledger-queries.ts';
import { decimalText } from './money.ts';
import { addressOf } from './propose.ts';
import type { WalletExport } from './verify-export.ts';
import { hashedEntryOf } from './verify-ledger.ts';
import { receiptOf } from './view.ts';

const PAGE = 500;

interface Owner {
  readonly accountKey: string;
  readonly accountName: string;
}

/** In pieces, oldest first. RFC 4180, with the names of its columns. */
export async function* statementCsv({ database }: CoreContext, { accountKey }: Owner): AsyncGenerator<string> {
  yield 'at,amount,currency,balance,counterparty,reference,app,entry,receipt\r\n';
  for (const side of await sidesOf(database, accountKey))
    for await (const row of rowsOf(database, side)) {
      const { currency, decimals } = side;
      const cells = [
        row.at.toISOString(),
        decimalText(BigInt(row.amount), decimals),
        currency,
        decimalText(BigInt(row.balance), decimals),
        ...[row.counterparty, row.reference, row.app_id, row.id, row.receipt_id].map(textCell),
      ];
      yield `${cells.join(',')}\r\n`;
    }
}

/** As JSON, in pieces. */
export async function* statementJson(context: CoreContext, owner: Owner): AsyncGenerator<string> {
  const { database, config, clock } = context;
  const sides = await sidesOf(database, owner.accountKey);
  const head: Omit<WalletExport, 'entries' | 'receipts' | 'keys'> = {
    type: 'platform.wallet.export.v1',
    origin: config.origin,
    rpId: config.rpId,
    account: addressOf(context, owner.accountName),
    exportedAt: clock().toISOString(),
    sides: sides.map(({ id, currency, decimals, balance, entries, head: newest }) => ({
      ...{ account: id, currency, decimals, balance: String(balance), entries: Number(entries) },
      head: newest.toString('hex'),
    })),
  };
  yield `${JSON.stringify(head, null, 1).slice(0, -2)},\n "entries": [`;
  let before = '\n  ';
  const told = new Set<string>();
  // What comes meanwhile is of the next export.
  for (const side of sides)
    for await (const row of rowsOf(database, side)) {
      if (Number(row.number) > Number(side.entries)) break;
      if (row.receipt_id !== null) told.add(row.receipt_id);
      yield `${before}${JSON.stringify(hashedEntryOf(row, side.currency))}`;
      before = ',\n  ';
    }
  yield '\n ],\n "receipts": [';
  before = '\n  ';
  const signed = new Map<string, Set<string>>();
  const receipts = (last: ReceiptRow | undefined) => receiptsOf(database, owner.accountKey, last?.id ?? '', PAGE);
  for await (const row of everyRow<ReceiptRow>(receipts)) {
    if (row.payee_key !== null && !told.has(row.id)) continue;
    const receipt = receiptOf(row, owner.accountKey);
    const signer = signerOf(receipt.operation);
    signed.set(signer, (signed.get(signer) ?? new Set()).add(receipt.assertion.credential.id));
    yield `${before}${JSON.stringify(receipt)}`;
    before = ',\n  ';
  }
  yield '\n ],\n "keys": [';
  before = '\n  ';
  const signers = [...signed.keys()];
  for (let at = 0; at < signers.length; at += PAGE)
    for (const row of await keysOf(database, signers.slice(at, at + PAGE))) {
      // Of others only what signed something here.
      if (signed.get(row.signer)?.has(row.credential_id) !== true) continue;
      yield `${before}${JSON.stringify(keyView(row))}`;
      before = ',\n  ';
    }
  yield '\n ]\n}\n';
}

function keyView({ signer, credential_id, public_key, first_used_at }: KeyRow): WalletExport['keys'][number] {
  return {
    ...{ account: signer, credentialId: credential_id, publicKey: public_key.toString('base64url') },
    firstUsedAt: first_used_at.toISOString(),
  };
}

function rowsOf(database: CoreContext['database'], { id }: LedgerSide): AsyncGenerator<EntryRow> {
  return everyRow<EntryRow>((last) => entriesOfSide(database, id, Number(last?.number ?? 0), PAGE));
}
