// Web push where the operator set it up, which a laptop has not: its code is loaded only then.
import type { CoreContext } from '../context.ts';
import type { Pushing } from './domain.ts';
import type { PushOptions } from './open-push-worker.ts';

/** @returns `null` without a subject for VAPID. @throws StartError `wrong_master_key` */
export async function openWebPush(context: CoreContext, options: PushOptions): Promise<Pushing | null> {
  const { vapidSubject } = context.config;
  if (vapidSubject === null) return null;
  const { openPushing } = await import('./open-push-worker.ts');
  return openPushing(context, vapidSubject, options);
}
