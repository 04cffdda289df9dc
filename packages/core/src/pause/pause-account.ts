// Pauses an account: one transaction stops everything it runs and notifies nodes, live streams and every replica. No
// app can undo it: resuming is a session route at the shell's own origin.
import type { AccountRuntime } from '@platform/contract';
import { selectPausedAt, updatePaused } from '../accounts/face.ts';
import type { CoreContext } from '../context.ts';
import { changingAt } from '../database/changing.ts';
import { notify } from '../database/notify.ts';

export async function readRuntime({ database }: CoreContext, accountKey: string): Promise<AccountRuntime> {
  const pausedAt = await selectPausedAt(database, accountKey);
  return { pausedAt: pausedAt?.toISOString() ?? null };
}

/** Pausing twice keeps the first time. */
export async function pauseAccount(context: CoreContext, accountKey: string): Promise<AccountRuntime> {
  await changingAt(context, 'pause', async (trx) => {
    if (!(await updatePaused(trx, accountKey, context.clock()))) return;
    await notify(trx, 'pause-changed', { accountKey });
    await context.lifecycle.accountPaused(trx, accountKey);
  });
  return readRuntime(context, accountKey);
}

export async function resumeAccount(context: CoreContext, accountKey: string): Promise<AccountRuntime> {
  await context.database.transaction().execute(async (trx) => {
    if (!(await updatePaused(trx, accountKey, null))) return;
    await notify(trx, 'pause-changed', { accountKey });
    await context.lifecycle.accountResumed(trx, accountKey);
  });
  return readRuntime(context, accountKey);
}
