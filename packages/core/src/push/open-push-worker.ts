// Starts web push where it is configured: the platform's key and this replica's worker. Loaded only then.
import { LeasedWorker } from '../background/leased-worker.ts';
import type { CoreContext } from '../context.ts';
import type { Pushing } from './domain.ts';
import { PushWork, type PushWorkOptions } from './push-work.ts';
import { type ConnectOptions, PushSender } from './send-message.ts';
import { openVapidKeys } from './vapid-keys.ts';

/** How web push connects and repeats, for tests; none of it can be configured. */
export interface PushOptions
  extends ConnectOptions,
    Pick<PushWorkOptions, 'firstRetryMilliseconds' | 'leaseMilliseconds'> {}

/** @throws StartError `wrong_master_key` */
export async function openPushing(
  context: CoreContext,
  subject: string,
  { ca, dialer, firstRetryMilliseconds, leaseMilliseconds }: PushOptions,
): Promise<Pushing> {
  const keys = await openVapidKeys(context);
  const { config, clock } = context;
  const sender = new PushSender({ keys, subject, privateOrigins: config.pushPrivateOrigins, clock, ca, dialer });
  const work = new PushWork(context, { sender, firstRetryMilliseconds, leaseMilliseconds });
  return { publicKey: keys.publicKey, worker: new LeasedWorker(context, work) };
}
