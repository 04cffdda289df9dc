// The wallet: every app may propose, with its grant, and the shell reviews; the rest is for the platform's own Wallet. Core says what a
// proposal may be.
import type { BridgeCalls, ProposePayment } from '@platform/contract';
import type { MethodsOf } from '../method.ts';
import { appIdText, cursorText, oneOf, optional, plainObject, type Reader, text } from '../params.ts';
import { BridgeRefusal } from '../refusal.ts';

const proposalIdText = text(/^wpr-[0-9a-f-]{36}$/, 'the id of a proposal to the wallet');
const policyIdText = text(/^pol-[0-9a-f-]{36}$/, 'the id of a policy');
const receiptIdText = text(/^rcp-[0-9a-f-]{36}$/, 'the id of a receipt');
/** Core says which it takes. */
const shortText = text(/^[^\p{Cc}]{0,512}$/u, 'one line of at most 512 characters');
/** Names of accounts have three characters or more. */
const recipientText = text(/^[^\p{Cc}]{3,255}$/u, 'a list of addresses of 3 to 255 characters');

/** Of a policy: at least one, and as many as core takes. */
function someOf(read: Reader<string>): Reader<string[]> {
  return (value, name) => {
    if (Array.isArray(value) && value.length > 0 && value.length <= 1_000) return value.map((one) => read(one, name));
    throw new BridgeRefusal('invalid_request', `\`${name}\` must be a list of 1 to 1,000 texts.`);
  };
}

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
      return shell.reviewWalletProposal(appId, proposal.id);
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
      return shell.reviewWalletProposal(appId, proposal.id);
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
    params: { id: proposalIdText },
    front: true,
    asks: ({ shell, caller, params }) => shell.reviewWalletProposal(caller.appId, params.id),
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
