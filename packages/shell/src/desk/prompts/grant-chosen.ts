// Grants what a person chose in the review of a version, once that is installed.
import type { Grant, RequestedGrant } from '@platform/contract';
import { call } from '../../api/client.ts';
import { grantsAfterReview, sameGrants } from './narrowing.ts';

export interface Reviewed {
  /** What the review showed as new. */
  readonly shown: readonly RequestedGrant[];
  /** What of it was left checked. */
  readonly chosen: readonly Grant[];
}

/** @throws ApiError */
export async function grantChosen(appId: string, { shown, chosen }: Reviewed): Promise<void> {
  if (shown.length === 0) return;
  const params = { appId };
  const { permissions: kept } = await call('apps.permissions.read', { params });
  const permissions = grantsAfterReview(kept, shown, chosen);
  if (sameGrants(kept, permissions)) return;
  await call('apps.permissions.replace', { params, body: { permissions: [...permissions] } });
}
