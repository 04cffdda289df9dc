// Which policies admit a payment that an app proposes: a limit, never an approval.
import type { Policy, PolicyId, Receipt } from '@platform/contract';
import type { Executor } from '../database/schema.ts';
import { inclusionProof, recipientEntry } from './merkle.ts';
import { type PolicyRow, policiesNaming, sumOfUses } from './policy-queries.ts';

const DAY_MILLISECONDS = 86_400_000;
const MONTH_MILLISECONDS = 30 * DAY_MILLISECONDS;

export interface LimitedPayment {
  readonly accountKey: string;
  readonly appId: string;
  readonly payeeKey: string;
  readonly currency: string;
  readonly value: bigint;
}

export type Admission = Receipt['policies'][number];

/** @returns with the proof of each that admits it; `null` where none names the app, and nothing limits it */
export async function admissions(
  db: Executor,
  { accountKey, appId, payeeKey, currency, value }: LimitedPayment,
  now: Date,
): Promise<(Admission & { readonly name: string })[] | null> {
  const naming = await policiesNaming(db, accountKey, [appId]);
  if (naming.length === 0) return null;
  const entry = recipientEntry(payeeKey);
  const since = {
    day: new Date(now.getTime() - DAY_MILLISECONDS),
    month: new Date(now.getTime() - MONTH_MILLISECONDS),
  };
  const admitting: (Admission & { readonly name: string })[] = [];
  for (const policy of naming) {
    const index = policy.leaves.findIndex((leaf) => leaf.equals(entry));
    const isPossible =
      index !== -1 &&
      policy.currency === currency &&
      value <= BigInt(policy.per_payment) &&
      (policy.expires_at === null || policy.expires_at > now);
    if (!isPossible || !(await isWithinSums(db, policy, { value, since }))) continue;
    admitting.push({
      policyId: policy.id,
      name: policy.name,
      leaf: entry.toString('hex'),
      index,
      size: policy.leaves.length,
      root: policy.root.toString('hex'),
      proof: inclusionProof(policy.leaves, index).map((hash) => hash.toString('hex')),
    });
  }
  return admitting;
}

async function isWithinSums(
  db: Executor,
  { id, per_day: perDay, per_month: perMonth }: PolicyRow,
  { value, since }: { readonly value: bigint; readonly since: { readonly day: Date; readonly month: Date } },
): Promise<boolean> {
  if (perDay === null && perMonth === null) return true;
  const { ofDay, ofMonth } = await sumOfUses(db, id as PolicyId, since);
  return (
    (perDay === null || ofDay + value <= BigInt(perDay)) && (perMonth === null || ofMonth + value <= BigInt(perMonth))
  );
}

export function policyOf(row: PolicyRow): Policy {
  return {
    id: row.id,
    name: row.name,
    currency: row.currency,
    perPayment: String(row.per_payment),
    perDay: row.per_day === null ? null : String(row.per_day),
    perMonth: row.per_month === null ? null : String(row.per_month),
    recipientsRoot: row.root.toString('hex'),
    recipientCount: row.leaves.length,
    appIds: row.app_ids as Policy['appIds'],
    expiresAt: row.expires_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
  };
}
