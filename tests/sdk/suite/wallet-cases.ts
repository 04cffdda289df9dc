// What a backend may do with the wallet of its person: propose, and learn what became of it.
import { equal, fails } from './checks.ts';
import { FRIEND } from './messaging-cases.ts';
import type { Cases } from './tools.ts';

const payment = (idempotencyKey: string) => ({
  ...{ to: FRIEND, amount: { currency: 'CREDIT', value: '250' }, reference: 'Lunch', idempotencyKey },
});

export const walletCases: Cases = {
  async 'a payment is proposed once, and waits'({ client: { wallet } }) {
    const proposal = await wallet.proposePayment(payment('lunch'));
    equal([proposal.kind, proposal.state, proposal.receipt], ['payment', 'pending', null]);
    equal(await wallet.proposePayment(payment('lunch')), proposal);
    equal(await wallet.proposal(proposal.id), proposal);
    const other = { ...payment('lunch'), reference: 'Dinner' };
    await fails(wallet.proposePayment(other), { name: 'PlatformError', code: 'proposal_conflict', status: 409 });
  },

  async 'what is no payment is refused with its member'({ client: { wallet } }) {
    const { code, errors } = await wallet.proposePayment({ ...payment('stranger'), to: 'nobody-there' }).then(
      () => ({ code: 'none', errors: [] }),
      (error: { code: string; errors: readonly { path: string }[] }) => error,
    );
    equal([code, errors[0]?.path], ['invalid_request', 'to']);
    const unknown = 'wpr-01890000-0000-7000-8000-000000000000';
    await fails(wallet.proposal(unknown), { name: 'PlatformError', code: 'not_found', status: 404 });
  },

  async 'a policy is proposed as well'({ client: { wallet } }) {
    const policy = { name: 'Friends', currency: 'CREDIT', perPayment: '500', recipients: [FRIEND] };
    const proposal = await wallet.proposePolicy({ ...policy, idempotencyKey: 'friends' });
    equal([proposal.kind, proposal.state], ['policy', 'pending']);
  },
};
