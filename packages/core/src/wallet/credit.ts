// The operator's side of the credits: gives them out, and takes back what an account has that is deleted.

import { refuse } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { notify } from '../database/notify.ts';
import type { Executor } from '../database/schema.ts';
import { type LedgerSide, lockSides, sidesOf } from './ledger-queries.ts';
import { queueNotice } from './notice-queries.ts';
import { nameOf } from './people-queries.ts';
import { issuerOf, MOST_HELD, postTransfer, sideOf } from './post-transfer.ts';
import { addressOf } from './propose.ts';
import { requireCurrency } from './require-currency.ts';

/** @returns the balance afterwards. @throws StartError as {@link requireCurrency}; RefusalError `not_found`; `invalid_request` beyond what an account may hold */
export async function creditAccount(
  context: CoreContext,
  accountKey: string,
  { value, reason }: { readonly value: bigint; readonly reason: string },
): Promise<bigint> {
  const currency = context.config.walletCurrency;
  await requireCurrency(context);
  return context.database.transaction().execute(async (trx) => {
    const name = await nameOf(trx, accountKey);
    if (name === undefined) throw refuse('not_found');
    const own = await sideOf(context, trx, accountKey, currency);
    const issuer = await issuerOf(context, trx, currency);
    const { first: to, second: from } = await lockBoth(trx, own, issuer);
    const balance = BigInt(to.balance) + value;
    if (balance > MOST_HELD) throw refuse('invalid_request', 'An account cannot hold that much.');
    await postTransfer(context, trx, {
      ...{ kind: 'credit', at: context.clock(), value, reference: reason, approval: null },
      from: { side: from, address: null },
      to: { side: to, address: addressOf(context, name) },
    });
    await queueNotice(context, trx, accountKey, {
      ...{ kind: 'received', from: null, value: String(value), currency: currency.code, reference: reason },
    });
    await notify(trx, 'wallet-changed', { accountKey });
    return balance;
  });
}

/** In the transaction of the deletion: what the account has goes back to the operator. */
export async function returnCredits(context: CoreContext, trx: Executor, accountKey: string): Promise<void> {
  for (const side of await sidesOf(trx, accountKey)) {
    const issuer = await issuerOf(context, trx, { code: side.currency, decimals: side.decimals });
    const { first: from, second: to } = await lockBoth(trx, side, issuer);
    const value = BigInt(from.balance);
    if (value > 0n)
      await postTransfer(context, trx, {
        ...{ kind: 'return', at: context.clock(), value, reference: null, approval: null },
        from: { side: from, address: null },
        to: { side: to, address: null },
      });
  }
}

async function lockBoth(
  trx: Executor,
  one: LedgerSide,
  other: LedgerSide,
): Promise<{ readonly first: LedgerSide; readonly second: LedgerSide }> {
  const locked = await lockSides(trx, [one.id, other.id]);
  const first = locked.find(({ id }) => id === one.id);
  const second = locked.find(({ id }) => id === other.id);
  if (first === undefined || second === undefined) throw new Error('a side of the ledger is gone');
  return { first, second };
}
