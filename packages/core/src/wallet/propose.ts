// An app proposes a payment or a limit: checked, and kept as exactly the operation that a passkey will sign. Nothing else happens.
import {
  limits,
  type PaymentOperation,
  type PolicyOperation,
  paymentOperation,
  policyOperation,
  type proposePaymentBody,
  type proposePolicyBody,
  refuse,
  walletProposalId,
} from '@platform/contract';
import type * as z from 'zod';
import type { CoreContext } from '../context.ts';
import { newId } from '../credentials/ids.ts';
import { notify } from '../database/notify.ts';
import type { Executor } from '../database/schema.ts';
import type { InstallationIdentity } from '../installations/face.ts';
import { addressText, parseAddress } from '../messaging/face.ts';
import { admitting, type LimitedPayment } from './admit-payment.ts';
import { canonicalHash, canonicalText } from './chain.ts';
import { treeEntries, treeRoot } from './merkle.ts';
import { queueNotice } from './notice-queries.ts';
import { type Person, peopleNamed } from './people-queries.ts';
import {
  countPending,
  findByIdempotencyKey,
  insertProposal,
  lockProposalsOf,
  type ProposalRow,
} from './proposal-queries.ts';
import type { Rails } from './rail.ts';

export type WalletContext = CoreContext & { readonly rails: Rails };

/** The app that proposes, and whether its person sees the proposal at once, since the shell opens its review. */
export type Proposer = Pick<InstallationIdentity, 'installationId' | 'accountKey' | 'accountName' | 'appId'> & {
  readonly isShown: boolean;
};

export function addressOf({ config }: Pick<CoreContext, 'config'>, name: string): string {
  return addressText({ kind: 'local', name }, config.messaging.serverName);
}

/**
 * @throws RefusalError `invalid_request` for a recipient who cannot be paid and for another currency; `policy_refused`;
 *   `proposal_conflict` for an idempotency key of something else; `rate_limited`
 */
export async function proposePayment(
  context: WalletContext,
  proposer: Proposer,
  request: z.output<typeof proposePaymentBody>,
): Promise<ProposalRow> {
  const { accountKey, accountName, appId } = proposer;
  const former = await formerProposal(context.database, proposer, { kind: 'payment', request });
  if (former !== undefined) return former;
  await requireRoom(context, context.database, proposer);
  requireCurrency(context, request.amount.currency, 'amount.currency');
  const [payee] = await recipients(context, proposer, [{ address: request.to, path: 'to' }]);
  if (payee === undefined) throw new Error('a recipient was read');
  await requireAdmission(context, {
    ...{ accountKey, appId, payeeKey: payee.key },
    ...{ currency: request.amount.currency, value: BigInt(request.amount.value) },
  });
  return store(context, proposer, { kind: 'payment', request, target: request.target ?? null }, (common) => ({
    operation: paymentOperation.parse({
      type: 'platform.wallet.payment.v1',
      ...common,
      from: addressOf(context, accountName),
      to: addressOf(context, payee.name),
      amount: request.amount,
      reference: request.reference ?? null,
    } satisfies z.input<typeof paymentOperation>),
    recipient_key: payee.key,
    recipients: null,
  }));
}

/** @throws RefusalError as {@link proposePayment}, but for `policy_refused` */
export async function proposePolicy(
  context: WalletContext,
  proposer: Proposer,
  request: z.output<typeof proposePolicyBody>,
): Promise<ProposalRow> {
  const former = await formerProposal(context.database, proposer, { kind: 'policy', request });
  if (former !== undefined) return former;
  await requireRoom(context, context.database, proposer);
  requireCurrency(context, request.currency, 'currency');
  if (request.expiresAt !== undefined && Date.parse(request.expiresAt) <= context.clock().getTime())
    throw wrong('expiresAt', 'must be in the future');
  const named = request.recipients.map((address, index) => ({ address, path: `recipients[${index}]` }));
  const people = await recipients(context, proposer, named);
  const byKey = new Map(people.map((person) => [person.key, person]));
  const entries = treeEntries(byKey.keys());
  return store(context, proposer, { kind: 'policy', request, target: null }, (common) => ({
    operation: policyOperation.parse({
      type: 'platform.wallet.policy.v1',
      ...common,
      account: addressOf(context, proposer.accountName),
      name: request.name,
      limits: {
        currency: request.currency,
        perPayment: request.perPayment,
        perDay: request.perDay ?? null,
        perMonth: request.perMonth ?? null,
      },
      recipientsRoot: treeRoot(entries).toString('hex'),
      recipientCount: entries.length,
      appIds: request.appIds === undefined ? null : [...new Set(request.appIds)],
      validUntil: request.expiresAt ?? null,
    } satisfies z.input<typeof policyOperation>),
    recipient_key: null,
    recipients: JSON.stringify({
      addresses: [...byKey.values()].map(({ name }) => addressOf(context, name)),
      entries: entries.map((entry) => entry.toString('hex')),
    }),
  }));
}

type Asked =
  | { readonly kind: 'payment'; readonly request: z.output<typeof proposePaymentBody> }
  | { readonly kind: 'policy'; readonly request: z.output<typeof proposePolicyBody> };

/** The proposal that was made with this key. @throws RefusalError `proposal_conflict` where it was of something else */
async function formerProposal(
  db: Executor,
  { installationId }: Proposer,
  { kind, request }: Asked,
): Promise<ProposalRow | undefined> {
  const former = await findByIdempotencyKey(db, installationId, request.idempotencyKey);
  if (former === undefined) return undefined;
  if (former.kind === kind && former.request_hash.equals(canonicalHash(request))) return former;
  throw refuse('proposal_conflict', 'Another proposal was made with this idempotency key. Use a new key for each.');
}

/** Before anything that costs more, and again when it is stored. @throws RefusalError `rate_limited` */
async function requireRoom(
  { clock }: Pick<CoreContext, 'clock'>,
  db: Executor,
  { installationId }: Proposer,
): Promise<void> {
  const most = limits.walletProposalsPending.value;
  if ((await countPending(db, installationId, clock())) >= most)
    throw refuse('rate_limited', `At most ${most} proposals of an app may wait for a decision.`, { retryAfter: 60 });
}

function requireCurrency({ rails }: WalletContext, currency: string, path: string): void {
  if (rails.of(currency) !== undefined) return;
  const known = rails.all().map((rail) => rail.currency.code);
  throw wrong(path, `must be ${known.join(' or ')}`);
}

/** @throws RefusalError `policy_refused` */
async function requireAdmission(
  { database, clock }: Pick<CoreContext, 'database' | 'clock'>,
  payment: LimitedPayment,
): Promise<void> {
  const admitted = await admitting(database, payment, clock());
  if (admitted?.length === 0) throw refuse('policy_refused');
}

/** In the order given. @throws RefusalError `invalid_request` for the first who cannot be paid by this account */
async function recipients(
  context: WalletContext,
  { accountKey }: Proposer,
  named: readonly { readonly address: string; readonly path: string }[],
): Promise<Person[]> {
  const { serverName } = context.config.messaging;
  const names = named.map(({ address, path }) => {
    const parsed = parseAddress(address, serverName);
    if (parsed === null) throw wrong(path, 'is no address');
    if (parsed.kind === 'external') throw wrong(path, 'is not an account of this platform');
    return { name: parsed.name, path };
  });
  const known = new Map(
    (
      await peopleNamed(
        context.database,
        names.map(({ name }) => name),
      )
    ).map((person) => [person.name, person]),
  );
  return names.map(({ name, path }) => {
    const person = known.get(name);
    if (person === undefined) throw wrong(path, `names nobody who can be paid: there is no account ${name}`);
    if (person.key === accountKey) throw wrong(path, 'is the account itself');
    return person;
  });
}

function wrong(path: string, message: string) {
  return refuse('invalid_request', `\`${path}\` ${message}.`, { errors: [{ path, message }] });
}

type Common = Pick<PaymentOperation | PolicyOperation, 'proposal' | 'app' | 'expiresAt' | 'nonce'>;

async function store(
  context: WalletContext,
  proposer: Proposer,
  asked: Asked & { readonly target: string | null },
  make: (
    common: Common,
  ) => { operation: PaymentOperation | PolicyOperation } & Pick<ProposalRow, 'recipient_key' | 'recipients'>,
): Promise<ProposalRow> {
  const { installationId, accountKey, appId } = proposer;
  const now = context.clock();
  const expires = new Date(now.getTime() + limits.walletProposalSeconds.value * 1_000);
  const id = walletProposalId.parse(newId('wpr', context));
  const nonce = context.random(32).toString('base64url');
  const { operation, ...more } = make({
    proposal: id,
    app: appId as Common['app'],
    expiresAt: expires.toISOString(),
    nonce,
  });
  const row: ProposalRow = {
    ...{ id, account_key: accountKey, installation_id: installationId, app_id: appId, kind: asked.kind },
    ...{ state: 'pending', operation: canonicalText(operation), operation_hash: canonicalHash(operation), ...more },
    ...{ target: asked.target, idempotency_key: asked.request.idempotencyKey },
    ...{ request_hash: canonicalHash(asked.request), created_at: now, expires_at: expires },
    ...{ receipt_id: null, receipt_at: null },
  };
  return context.database.transaction().execute(async (trx) => {
    await lockProposalsOf(trx, installationId);
    const former = await formerProposal(trx, proposer, asked);
    if (former !== undefined) return former;
    await requireRoom(context, trx, proposer);
    await insertProposal(trx, row);
    if (!proposer.isShown) await queueNotice(context, trx, accountKey, { kind: 'proposed', proposal: id });
    await notify(trx, 'wallet-changed', { accountKey });
    return row;
  });
}
