// What happened in the wallet, as notifications of the Wallet: money that came, and what an app proposes in the background. Stored by a
// job after it, since storing takes the lock of the account's notifications.
import type { NotificationId, PaymentOperation, WalletProposalId } from '@platform/contract';
import type { JobKind } from '../background/jobs.ts';
import type { CoreContext } from '../context.ts';
import { selectAppNames } from '../installations/face.ts';
import { type NewNotification, storeWithin } from '../notifications/face.ts';
import { moneyText } from './money.ts';
import { findWalletApp, selectNotice, WALLET_APP, type WalletNotice, walletNotices } from './notice-queries.ts';
import { findProposal } from './proposal-queries.ts';
import type { Rails } from './rail.ts';

export type WalletEvent =
  | {
      readonly kind: 'received';
      /** An address; `null` for the operator. */
      readonly from: string | null;
      readonly value: string;
      readonly currency: string;
      readonly reference: string | null;
    }
  | { readonly kind: 'proposed'; readonly proposal: WalletProposalId };

const LEASE_MILLISECONDS = 20_000;

export function publishingNotices(context: CoreContext, rails: Rails): JobKind<NotificationId> {
  return {
    name: 'notices of the wallet',
    jobs: walletNotices,
    wakeOn: 'wallet-notice-queued',
    slots: 2,
    leaseMilliseconds: LEASE_MILLISECONDS,
    async run({ id }) {
      const notice = await selectNotice(context.database, id);
      if (notice === undefined) return 'done';
      const installationId = await findWalletApp(context.database, notice.account_key);
      const words = await wordsOf(context, rails, notice);
      if (installationId === undefined || words === null) return 'done';
      const notification: NewNotification = {
        ...{ id, account_key: notice.account_key, installation_id: installationId, app_id: WALLET_APP },
        ...{ topic: words.topic, title: words.title, body: words.body, priority: 'normal' },
        presentation: {
          mode: 'card',
          tone: 'neutral',
          layout: 'standard',
          actions: [{ id: 'open', label: words.label, type: 'open-app', style: 'primary', target: words.target }],
        },
        ...{ delivery: 'inbox-and-web-push', dedupe_key: null, created_at: notice.occurred_at, expires_at: null },
      };
      return async (trx) => {
        const { surplus } = await storeWithin(trx, context, [notification]);
        if (surplus > 0) context.count('platform_core_push_dropped_total', { reason: 'surplus' }, surplus);
      };
    },
  };
}

interface Words {
  readonly topic: string;
  readonly title: string;
  readonly body: string;
  readonly label: string;
  readonly target: string;
}

/** `null` for what is decided meanwhile. */
async function wordsOf(
  { database, clock }: CoreContext,
  rails: Rails,
  { account_key: accountKey, event }: WalletNotice,
): Promise<Words | null> {
  const text = (value: string, code: string) =>
    moneyText(BigInt(value), { code, decimals: rails.of(code)?.currency.decimals ?? 0 });
  if (event.kind === 'received')
    return {
      topic: 'received',
      title: `You received ${text(event.value, event.currency)}`,
      body: `From ${event.from ?? 'the operator'}.${event.reference === null ? '' : ` “${event.reference}”`}`,
      ...{ label: 'Open Wallet', target: '?view=statement' },
    };
  const row = await findProposal(database, { accountKey }, event.proposal);
  if (row === undefined || row.state !== 'pending' || row.expires_at <= clock()) return null;
  const [found] = await selectAppNames(database, [{ accountKey, appId: row.app_id }]);
  const name = found ?? row.app_id;
  const common = { topic: 'proposals', label: 'Review', target: `?proposal=${row.id}` };
  if (row.kind === 'policy')
    return { ...common, title: `${name} proposes a wallet policy`, body: 'Nothing changes unless you approve it.' };
  const { amount, to } = JSON.parse(row.operation) as PaymentOperation;
  return {
    ...common,
    title: `${name} proposes to pay ${text(amount.value, amount.currency)}`,
    body: `To ${to}. Nothing is paid unless you approve it.`,
  };
}
