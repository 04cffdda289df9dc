// Starts the worker of a replica with what it needs of the configuration.
import type { CoreContext } from '../context.ts';
import { type PushCounts, PushWorker, type PushWorkerOptions } from './push-worker.ts';
import { type ConnectOptions, PushSender } from './send-message.ts';
import type { VapidKeys } from './vapid-keys.ts';

export { openVapidKeys } from './vapid-keys.ts';

export interface PushOptions
  extends ConnectOptions,
    Pick<PushWorkerOptions, 'firstRetryMilliseconds' | 'leaseMilliseconds'> {}

const uncounted: PushCounts = { sent: () => undefined, failed: () => undefined, dropped: () => undefined };

export function openPushWorker(
  context: CoreContext,
  keys: VapidKeys,
  {
    ca,
    dialer,
    firstRetryMilliseconds,
    leaseMilliseconds,
    counts = uncounted,
  }: PushOptions & { readonly counts?: PushCounts | undefined },
): PushWorker {
  const { config, clock } = context;
  const { vapidSubject: subject, pushPrivateOrigins: privateOrigins } = config;
  if (subject === null) throw new Error('web push has no subject');
  const sender = new PushSender({ keys, subject, privateOrigins, clock, ca, dialer });
  const worker = new PushWorker(context, { sender, counts, firstRetryMilliseconds, leaseMilliseconds });
  worker.start();
  return worker;
}
