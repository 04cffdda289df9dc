// Which policies admit a payment that an app proposes: a limit, never an approval.
import type { Policy, Receipt } from '@platform/contract';
import type { Executor } from '../database/schema.ts';
import { inclusionProof, recipientEntry } from './merkle.ts';
import {
  type AdmittingRow,
  isLimited,
  leavesOf,
  type PolicyRow,
  policiesAdmitting,
  sumOfUses,
} from './policy-queries.ts';

const DAY_MILLISECONDS = 86_400_000;
const MONTH_MILLISECONDS = 30 * DAY_MILLISECONDS;

export interface LimitedPayment {
  readonly accountKey: string;
  readonly appId: string;
  readonly payeeKey: string;
  readonly currency: string;
  readonly value: bigint;
}

/** @returns each that admits it; `null` where none names the app, and nothing limits it */
export async function admitting(
  db: Executor,
  { accountKey, appId, payeeKey, currency, value }: LimitedPayment,
  now: Date,
): Promise<AdmittingRow[] | null> {
  if (!(await isLimited(db, accountKey, appId))) return null;
  const entry = recipientEntry(payeeKey);
  const since = {
    day: new Date(now.getTime() - DAY_MILLISECONDS),
    month: new Date(now.getTime() - MONTH_MILLISECONDS),
  };
  const admits: AdmittingRow[] = [];
  for (const policy of await policiesAdmitting(db, accountKey, { appId, currency, value, entry, now }))
    if (await isWithinSums(db, policy, { value, since })) admits.push(policy);
  return admits;
}

/** As a receipt keeps them: with the proof that the recipient is in the tree of each. */
export async function proven(
  db: Executor,
  admits: readonly AdmittingRow[],
  payeeKey: string,
): Promise<Receipt['policies']> {
  const leaf = recipientEntry(payeeKey).toString('hex');
  const policies: Receipt['policies'] = [];
  for (const { id, index, recipients: size, root } of admits) {
    const proof = inclusionProof(await leavesOf(db, id), index).map((hash) => hash.toString('hex'));
    policies.push({ policyId: id, leaf, index, size, root: root.toString('hex'), proof });
  }
  return policies;
}

async function isWithinSums(
  db: Executor,
  { id, per_day: perDay, per_month: perMonth }: AdmittingRow,
  { value, since }: { readonly value: bigint; readonly since: { readonly day: Date; readonly month: Date } },
): Promise<boolean> {
  if (perDay === null && perMonth === null) return true;
  const { ofDay, ofMonth } = await sumOfUses(db, id, since);
  return (
    (perDay === null || ofDay + value <= BigInt(perDay)) && (perMonth === null || ofMonth + value <= BigInt(perMonth))
  );
}

export function policyOf(row: PolicyRow): Policy {
  return {
    id: row.id as Policy['id'],
    name: row.name,
    currency: row.currency,
    perPayment: String(row.per_payment),
    perDay: row.per_day === null ? null : String(row.per_day),
    perMonth: row.per_month === null ? null : String(row.per_month),
    recipientsRoot: row.root.toString('hex'),
    recipientCount: row.recipients,
    appIds: row.app_ids as Policy['appIds'],
    expiresAt: row.expires_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
  };
}
