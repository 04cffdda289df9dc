// The wallet: every app may propose, with its grant, and the shell reviews; the rest is for the platform's own Wallet. Core says what a
// proposal may be.
import type { BridgeCalls, ProposePayment } from '@platform/contract';
import type { MethodsOf } from '../method.ts';
import {
  appIdText,
  cursorText,
  oneOf,
  optional,
  plainObject,
  policyIdText,
  type Reader,
  receiptIdText,
  recipientText,
  shortText,
  someOf,
  walletProposalIdText,
} from '../params.ts';

const FOR_WALLET = { only: ['wallet'] } as const;

/** Core checks what is in it. */
const money = plainObject as unknown as Reader<ProposePayment['amount']>;

const decided = (_: unknown, { proposal }: BridgeCalls['wallet.review']['result']) => ({ proposal });

export const walletMethods: MethodsOf<'wallet'> = {
  'wallet.proposePayment': {
    params: {
      to: shortText,
      amount: money,
      idempotencyKey: shortText,
      reference: optional(shortText),
      target: optional(shortText),
    },
    grant: 'wallet.payment.propose',
    target: '*',
    front: true,
    async asks({ shell, caller: { appId }, params }) {
      const { proposal } = await shell.call('apps.wallet.payments', { params: { appId }, body: params });
      return shell.reviewProposal(appId, proposal.id);
    },
    run: decided,
  },
  'wallet.proposePolicy': {
    params: {
      name: shortText,
      currency: shortText,
      perPayment: shortText,
      perDay: optional(shortText),
      perMonth: optional(shortText),
      recipients: someOf(recipientText),
      appIds: optional(someOf(appIdText)),
      expiresAt: optional(shortText),
      idempotencyKey: shortText,
    },
    grant: 'wallet.policy.propose',
    target: '*',
    front: true,
    async asks({ shell, caller: { appId }, params }) {
      const { proposal } = await shell.call('apps.wallet.policies', { params: { appId }, body: params });
      return shell.reviewProposal(appId, proposal.id);
    },
    run: decided,
  },
  'wallet.read': { ...FOR_WALLET, params: {}, run: ({ shell }) => shell.call('wallet.read') },
  'wallet.entries': {
    ...FOR_WALLET,
    params: { search: optional(shortText), cursor: optional(cursorText) },
    run: ({ shell, params }) => shell.call('wallet.entries', { query: { ...params } }),
  },
  'wallet.proposals': {
    ...FOR_WALLET,
    params: { cursor: optional(cursorText) },
    run: ({ shell, params }) => shell.call('wallet.proposals.list', { query: { ...params } }),
  },
  'wallet.review': {
    ...FOR_WALLET,
    params: { id: walletProposalIdText },
    front: true,
    asks: ({ shell, caller, params }) => shell.reviewProposal(caller.appId, params.id),
    run: decided,
  },
  'wallet.policies': {
    ...FOR_WALLET,
    params: { cursor: optional(cursorText) },
    run: ({ shell, params }) => shell.call('wallet.policies.list', { query: { ...params } }),
  },
  'wallet.removePolicy': {
    ...FOR_WALLET,
    params: { id: policyIdText },
    run: async ({ shell, params }) => {
      await shell.call('wallet.policies.remove', { params });
      return null;
    },
  },
  'wallet.receipt': {
    ...FOR_WALLET,
    params: { id: receiptIdText },
    run: async ({ shell, params }) => (await shell.call('wallet.receipt', { params })).receipt,
  },
  'wallet.export': {
    ...FOR_WALLET,
    params: { format: oneOf(['csv', 'json']) },
    front: true,
    asks: ({ shell, caller, params }) => shell.saveStatement(caller.appId, params.format),
    run: (_, saved) => ({ saved }),
  },
};
