// The built-in rail: credits that the operator gives, moved within the ledger of this platform, in the transaction of the approval.
import type { CoreContext } from '../context.ts';
import type { Executor } from '../database/schema.ts';
import { findSide, type LedgerSide, lockSides } from './ledger-queries.ts';
import type { Currency } from './money.ts';
import { MOST_HELD, postTransfer, sideOf } from './post-transfer.ts';
import type { Approval, Payment, Rail, Shortage } from './rail.ts';
import { verifyLedger } from './verify-ledger.ts';

interface Reserved {
  readonly payment: Payment;
  readonly payer: LedgerSide;
  readonly payee: LedgerSide;
}

export function creditsRail(context: CoreContext): Rail<Reserved> {
  const { code, decimals } = context.config.walletCurrency;
  const currency: Currency = { code, decimals };
  return {
    currency,
    async balance(db, accountKey) {
      return BigInt((await findSide(db, accountKey, code))?.balance ?? 0);
    },
    async reserve(trx: Executor, payment: Payment): Promise<Reserved | Shortage> {
      const from = await findSide(trx, payment.payerKey, code);
      if (from === undefined) return 'insufficient-funds';
      const to = await sideOf(context, trx, payment.payeeKey, currency);
      const locked = await lockSides(trx, [from.id, to.id]);
      const payer = locked.find(({ id }) => id === from.id);
      const payee = locked.find(({ id }) => id === to.id);
      if (payer === undefined || payee === undefined || BigInt(payer.balance) < payment.value)
        return 'insufficient-funds';
      return BigInt(payee.balance) + payment.value > MOST_HELD ? 'recipient-full' : { payment, payer, payee };
    },
    async execute(trx: Executor, { payment, payer, payee }: Reserved, approval: Approval): Promise<void> {
      await postTransfer(context, trx, {
        kind: 'payment',
        at: approval.at,
        value: payment.value,
        from: { side: payer, address: payment.from, appId: payment.appId },
        to: { side: payee, address: payment.to },
        reference: payment.reference,
        approval,
      });
    },
    // Nothing was written outside the transaction that is rolled back.
    reverse: async () => undefined,
    verify: (db) => verifyLedger(db, context.config),
  };
}
