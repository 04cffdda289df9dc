// Reads what the review of an app that an app made shows, and puts it before the person.
import { type PermissionsView, type DraftReview as Review, type SecretBinding, unmetNeeds } from '@platform/contract';
import { ApiError } from '../../api/api-error.ts';
import { call } from '../../api/client.ts';
import { readInstalledApps } from '../../apps/installed-apps.ts';
import { type Asker, ask } from '../prompts/ask.tsx';
import { newRequests, requestsByRoute } from '../prompts/new-requests.ts';
import { DraftReview } from './draft-review.tsx';

/**
 * @param madeBy refuses what another app made
 * @throws ApiError `not_found` for one that is not there
 */
export async function askAboutDraft(id: string, asker: Asker | null, madeBy?: string): Promise<boolean> {
  const [found, offers] = await Promise.all([
    call('account.drafts.read', { params: { id } }),
    call('account.offers'),
    readInstalledApps(),
  ]);
  if (madeBy !== undefined && found.madeBy !== madeBy)
    throw new ApiError({ code: 'not_found', detail: 'No such app waits.', status: 404 });
  const draft = { ...found, permissions: requestsByRoute(found.permissions, found.publicRoutes) };
  const held = await heldOf(found);
  const bindings = held === null ? [] : await bindingsOf(found);
  const permissions = held === null ? found.permissions : newRequests(found.permissions, held);
  return ask(DraftReview, asker, { draft, held, bindings, unmet: unmetNeeds({ ...found, permissions }, offers) });
}

async function bindingsOf({ appId }: Review): Promise<readonly SecretBinding[]> {
  return (await call('apps.secretBindings.list', { params: { appId } })).items;
}

/** What the installed version requested and was granted. */
async function heldOf({ appId, installed }: Review): Promise<PermissionsView | null> {
  return installed === null ? null : call('apps.permissions.read', { params: { appId } });
}
