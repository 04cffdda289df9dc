// `/control/installations/:id/call/…`: a request of core itself to a backend, which is started if need be.
import { ANSWERED_BY, refuse } from '@platform/contract';
import { type IncomingRequest, withPlatformFields } from '@platform/http';
import type { Installation } from '../lifecycle/installation.ts';
import { type Endpoints, wake } from './endpoints.ts';

export interface PlatformCalls extends Pick<Endpoints, 'onWake'> {
  /** By its id. Waits a moment for an app that was installed just now. */
  find(installationId: string): Promise<Installation | undefined>;
}

/**
 * Carries the request like one that came to the endpoint, under the app's own host and without the credential, but with
 * core's `Platform-*` fields. The answer says who gave it.
 *
 * @throws RefusalError `not_found`, and those of {@link Installation.reach}
 */
export async function carryPlatformCall(
  calls: PlatformCalls,
  incoming: IncomingRequest,
  { installationId, path }: { readonly installationId: string; readonly path: string },
): Promise<void> {
  const { req, res, head } = incoming;
  res.setHeader(ANSWERED_BY, 'platform');
  const installation = await calls.find(installationId);
  if (installation === undefined) throw refuse('not_found');
  const gateway = await wake(calls, installation);
  if (res.destroyed || res.writableEnded) return;
  gateway.forwardInbound({ ...incoming, head: withPlatformFields(head, req) }, path);
}
