// Grants what a person chose in the review of a version, once that is installed.
import { call } from '../../api/client.ts';
import { grantsAfterReview, type Reviewed, sameGrants } from './narrowing.ts';

/** @throws ApiError */
export async function grantChosen(appId: string, reviewed: Reviewed): Promise<void> {
  if (reviewed.shown.length === 0) return;
  const params = { appId };
  const { permissions: kept } = await call('apps.permissions.read', { params });
  const permissions = grantsAfterReview(kept, reviewed);
  if (sameGrants(kept, permissions)) return;
  await call('apps.permissions.replace', { params, body: { permissions: [...permissions] } });
}
