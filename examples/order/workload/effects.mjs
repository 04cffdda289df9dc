// What an order does to the world. Each step hands on its key: with it an effect happens once, however often the step is run.
import { setTimeout as pause } from 'node:timers/promises';
import { Ledger } from './ledger.mjs';

/**
 * @param stripe the secret slot; while it has no secret, payments are booked in a ledger only
 * @param stepMilliseconds how long each step takes after its effect, so that a person can watch, and stop the backend there
 */
export function effectsIn(folder, { stripe, stepMilliseconds }) {
  const ledgerOf = (name) => new Ledger(folder, name);
  const ledgers = {
    reserved: ledgerOf('reserved'),
    paid: ledgerOf('paid'),
    decided: ledgerOf('decided'),
    refunded: ledgerOf('refunded'),
    mailed: ledgerOf('mailed'),
  };

  /** A step whose effect is an entry in a ledger, under the key of the step. */
  const booking =
    (ledger, entryOf) =>
    async (input, { idempotencyKey, signal }) => {
      const known = ledger.find(idempotencyKey);
      const entry = known ?? (await ledger.book(idempotencyKey, await entryOf(input, idempotencyKey, signal)));
      await pause(stepMilliseconds, undefined, { signal });
      return entry;
    };

  return {
    ledgers,

    reserve: booking(ledgers.reserved, ({ id, item, cents, email }) => ({ order: id, item, cents, email })),

    // What the run must remember is a result. An error is not kept: the next execution would try again.
    charge: booking(ledgers.paid, async ({ id, cents }, key, signal) => {
      const fields = { amount: cents, currency: 'eur', payment_method: 'pm_card_visa', confirm: true };
      const answer = await post('payment_intents', { ...fields, 'payment_method_types[]': 'card' }, key, signal);
      if (answer === null) return { order: id, cents, paid: true, reference: null };
      if (answer.status === 'succeeded') return { order: id, cents, paid: true, reference: answer.id };
      return { order: id, cents, paid: false, why: answer.error?.message ?? `Stripe says ${answer.status}.` };
    }),

    refund: booking(ledgers.refunded, async ({ id, cents, reference }, key, signal) => {
      if (reference === null) return { order: id, cents };
      const answer = await post('refunds', { payment_intent: reference }, key, signal);
      if (answer?.error || answer === null) throw new Error(`Stripe did not refund ${reference}. Do it by hand.`);
      return { order: id, cents };
    }),

    mail: booking(ledgers.mailed, ({ id, to, text }) => ({ order: id, to, text })),

    /** Waits for a person, for seconds or days: the run stands still, and so does this step after a restart. */
    decision: ({ id }, { signal }) => ledgers.decided.until(id, signal),
    decide: (id, approved) => ledgers.decided.book(id, { order: id, approved }),
  };

  /** @returns what Stripe answered, `null` while nobody has chosen a secret for it. Throws what is worth another attempt. */
  async function post(path, fields, idempotencyKey, signal) {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'idempotency-key': idempotencyKey };
    const body = new URLSearchParams(fields).toString();
    try {
      const answer = await stripe.request(path, { method: 'POST', headers, body, signal });
      if (answer.ok || answer.status === 402) return await answer.json();
      throw new Error(`Stripe answered ${answer.status}.`);
    } catch (error) {
      if (error.code === 'not_authorized') return null;
      throw error;
    }
  }
}
