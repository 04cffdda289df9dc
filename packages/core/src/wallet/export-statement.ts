// The whole statement of an account as a file: a table for people, or everything that verifies it.
import { everyRow } from '../account-files.ts';
import type { CoreContext } from '../context.ts';
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

/** Spreadsheets run what begins like a formula: such text is marked as text. */
export function textCell(text: string | null): string {
  if (text === null) return '';
  const marked = /^\s*[=+\-@|%\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(marked) || marked !== text ? `"${marked.replaceAll('"', '""')}"` : marked;
}

/** As JSON, in pieces. */
export async function* statementJson(context: CoreContext, owner: Owner): AsyncGenerator<string> {
  const { database, config, clock } = context;
  const sides = await sidesOf(database, owner.accountKey);
  const head: Omit<WalletExport, 'entries' | 'receipts'> = {
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
  const receipts = (last: ReceiptRow | undefined) => receiptsOf(database, owner.accountKey, last?.id ?? '', PAGE);
  for await (const row of everyRow<ReceiptRow>(receipts)) {
    if (row.payee_key !== null && !told.has(row.id)) continue;
    yield `${before}${JSON.stringify(receiptOf(row, owner.accountKey))}`;
    before = ',\n  ';
  }
  yield '\n ]\n}\n';
}

function rowsOf(database: CoreContext['database'], { id }: LedgerSide): AsyncGenerator<EntryRow> {
  return everyRow<EntryRow>((last) => entriesOfSide(database, id, Number(last?.number ?? 0), PAGE));
}
