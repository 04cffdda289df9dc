// Work leases: a workload declares for how long it is busy without inbound requests. Leases expire, so a workload that
// crashed or forgot stays awake no longer. The Runtime checks them before it puts a workload to sleep.
import { type InstallationId, limits, refuse, type WorkLease, type WorkLeaseId, workLeaseId } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { newId } from '../credentials/ids.ts';
import { deleteLease, extendLease, insertLease, lastLeaseEnd, lockForLease, runningLeases } from './queries.ts';

/** @throws RefusalError `concurrency_limited` beyond `limits.workLeases`, `not_found` when the app was just removed */
export async function createLease(
  context: CoreContext,
  installationId: InstallationId,
  requested: { readonly durationSeconds: number; readonly reason?: string | undefined },
): Promise<WorkLease> {
  const now = context.clock();
  const id = workLeaseId.parse(newId('lease', context));
  const expiresAt = new Date(now.getTime() + requested.durationSeconds * 1_000);
  await context.database.transaction().execute(async (trx) => {
    if (!(await lockForLease(trx, installationId))) throw refuse('not_found');
    const { count, firstEnd } = await runningLeases(trx, installationId, now);
    if (count >= limits.workLeases.value) throw tooMany(firstEnd, now);
    await insertLease(trx, {
      id,
      installationId,
      durationSeconds: requested.durationSeconds,
      reason: requested.reason ?? null,
      proven: context.time.proven(),
      expiresAt,
    });
  });
  return { id, expiresAt: expiresAt.toISOString() };
}

function tooMany(firstEnd: Date | null, now: Date): Error {
  const wait = firstEnd === null ? 1 : Math.max(1, Math.ceil((firstEnd.getTime() - now.getTime()) / 1_000));
  return refuse(
    'concurrency_limited',
    `An installation has at most ${limits.workLeases.value} work leases. Renew one, or release one first.`,
    { retryAfter: wait },
  );
}

/** @throws RefusalError `not_found` for a lease that has ended or is another installation's */
export async function renewLease(
  context: CoreContext,
  installationId: InstallationId,
  id: WorkLeaseId,
  durationSeconds: number | undefined,
): Promise<WorkLease> {
  const lease = { id, installationId, durationSeconds: durationSeconds ?? null, now: context.clock() };
  const expiresAt = await extendLease(context.database, lease);
  if (expiresAt === undefined) throw ended();
  return { id, expiresAt: expiresAt.toISOString() };
}

/** @throws RefusalError `not_found` for a lease that has ended or is another installation's */
export async function releaseLease(
  context: CoreContext,
  installationId: InstallationId,
  id: WorkLeaseId,
): Promise<void> {
  if (!(await deleteLease(context.database, { id, installationId, now: context.clock() }))) throw ended();
}

function ended(): Error {
  return refuse('not_found', 'There is no such work lease, or it has ended. Make a new one.');
}

/** Milliseconds until the last lease ends, negative when it has; `null` when there was none. */
export async function leasesEndIn(context: CoreContext, installationId: InstallationId): Promise<number | null> {
  const end = await lastLeaseEnd(context.database, installationId);
  return end === undefined ? null : end.getTime() - context.clock().getTime();
}
