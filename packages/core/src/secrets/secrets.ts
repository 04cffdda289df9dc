// The secrets of an account as its owner keeps them: put, listed by name, removed. No function returns a value.
import { limits, refuse, type Secret } from '@platform/contract';
import type { SessionCaller } from '../accounts/face.ts';
import type { CoreContext } from '../context.ts';
import { changing } from '../database/changing.ts';
import { assignmentsRevoked } from '../placement/face.ts';
import {
  countOtherSecrets,
  deleteSecret,
  lockSecrets,
  selectNodesOfUses,
  selectSecrets,
  selectUses,
  upsertSecret,
} from './queries.ts';
import { sealSecret } from './sealed-secret.ts';

/** By name. At most `limits.secrets`. */
export async function listSecrets({ database }: CoreContext, accountKey: string): Promise<Secret[]> {
  const [rows, uses] = await Promise.all([selectSecrets(database, accountKey), selectUses(database, accountKey)]);
  return rows.map(({ name, createdAt, lastUsedAt }) => ({
    name,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    bindings: uses.filter(({ secret }) => secret === name).map(({ appId, slot }) => ({ appId, slot })),
  }));
}

/** @throws RefusalError `invalid_request` beyond `limits.secrets` */
export async function putSecret(
  context: CoreContext,
  { accountKey, sessionId }: SessionCaller,
  name: string,
  value: string,
): Promise<void> {
  const plain = Buffer.from(value, 'utf8');
  const sealed = sealSecret(context, { accountKey, name }, plain);
  plain.fill(0);
  const now = context.clock();
  await context.database.transaction().execute(async (trx) => {
    await lockSecrets(trx, accountKey);
    if ((await countOtherSecrets(trx, accountKey, name)) >= limits.secrets.value)
      throw refuse('invalid_request', `An account has at most ${limits.secrets.value} secrets. Remove one first.`);
    await upsertSecret(trx, { accountKey, sessionId, name, sealed, now });
  });
}

/**
 * Its bindings go with it. When the answer is there, calls that were made with them have ended, or two seconds have
 * passed.
 *
 * @throws RefusalError `not_found`
 */
export async function removeSecret(context: CoreContext, accountKey: string, name: string): Promise<void> {
  await changing(context, async (trx) => {
    const nodes = await selectNodesOfUses(trx, accountKey, name);
    if (!(await deleteSecret(trx, accountKey, name))) throw refuse('not_found', 'You have no secret of this name.');
    await assignmentsRevoked(context, trx, { nodes, touched: null });
  });
}
