// Removes what time ends: invitations that nobody answered, uploads that nothing came of, versions that were read when others
// took their place, and what deleted accounts had shared once
// it could be copied for long enough.
import { PeriodicTask } from '../background/periodic-task.ts';
import { earlier, type ProvenTime } from '../clock/clock-guard.ts';
import type { CoreContext } from '../context.ts';
import { notifyEach } from '../database/notify.ts';
import { OVERHEAD } from './bodies/bodies.ts';
import { deleteAbandoned, deleteFormer } from './bodies/body-queries.ts';
import { doomLoose } from './bodies/object-queries.ts';
import { deleteExpired } from './members/invitation-queries.ts';
import { endOrphan } from './owners/end-owner.ts';
import { deleteEnded } from './owners/owner-queries.ts';

const PERIOD_MILLISECONDS = 600_000;
const BATCH = 100;
/** Longer than any upload may take. */
const UPLOAD_MILLISECONDS = 86_400_000;
/** Longer than one piece may be on its way to the object store. */
const PUT_MILLISECONDS = 3_600_000;

export function contentSweep(context: CoreContext): PeriodicTask {
  const piece = (proven: ProvenTime) => sweepContent(context, proven);
  return new PeriodicTask(context, { name: 'content', everyMilliseconds: PERIOD_MILLISECONDS, piece });
}

type SweepContext = Pick<CoreContext, 'database' | 'clock' | 'random'>;

/** @returns whether there may be more to remove */
export function sweepContent(context: SweepContext, proven: ProvenTime): Promise<boolean> {
  return context.database.transaction().execute(async (trx) => {
    const expired = await deleteExpired(trx, { proven, atMost: BATCH });
    const changed = [...new Set(expired)].map((accountKey) => ({ accountKey }));
    if (changed.length > 0) await notifyEach(trx, 'content-invitations-changed', changed);
    const uploads = { proven: earlier(proven, UPLOAD_MILLISECONDS), atMost: BATCH, overhead: OVERHEAD };
    const abandoned = await deleteAbandoned(trx, uploads);
    const former = await deleteFormer(trx, { proven, atMost: BATCH, overhead: OVERHEAD });
    const loose = await doomLoose(trx, { proven: earlier(proven, PUT_MILLISECONDS), atMost: BATCH });
    const ended = await deleteEnded(trx, { proven, atMost: 1 });
    const orphaned = await endOrphan(context, trx);
    return (
      orphaned || expired.length === BATCH || abandoned === BATCH || former === BATCH || loose === BATCH || ended > 0
    );
  });
}
