// The workflow: an ordinary function. The platform keeps what each step gave; after a crash the app runs the function again.

const PATIENTLY = { retry: { attempts: 6, backoffMilliseconds: 1_000 } };

export function orderWorkflow({ reserve, charge, refund, decision, mail }) {
  return { definition: 'order', version: 1, run: order };

  async function order(flow, { id, item, cents, email }) {
    await flow.activity('reserve', 'reserve-goods', { id, item, cents, email }, reserve);

    const { paid, reference, why } = await flow.activity('pay', 'charge-card', { id, cents }, charge, PATIENTLY);
    if (!paid) return close('declined', `Your payment was declined: ${why}`);

    const { approved } = await flow.activity('approve', 'wait-for-decision', { id }, decision);
    if (approved) return close('shipped', `Your ${item} are on their way.`);

    await flow.activity('refund', 'refund-card', { id, cents, reference }, refund, PATIENTLY);
    return close('refused', 'We cannot deliver your order. You have your money back.');

    async function close(outcome, text) {
      await flow.activity('mail', 'send-mail', { id, to: email, text }, mail, PATIENTLY);
      return { outcome };
    }
  }
}
