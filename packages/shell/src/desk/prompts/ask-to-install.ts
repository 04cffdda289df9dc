// Which review stands before an installation: that of a new app, or of another version of one that is there.
import { openRoutes, type PermissionsView } from '@platform/contract';
import { call, ONE_PAGE } from '../../api/client.ts';
import { resourcesOf } from '../../apps/bridge/grants.ts';
import { readInstalledApps } from '../../apps/installed-apps.ts';
import { type Asker, ask } from './ask.tsx';
import { newRequests, requestsByRoute } from './new-requests.ts';

/**
 * Shows the review of an installation, or of an upgrade when the app is there in another version.
 * @throws ApiError when the app is not in the catalog, or `already_installed`
 */
export async function askToInstall(appId: string, version: string | null, asker: Asker | null): Promise<boolean> {
  // Of the very version that is meant: another one may ask for something else.
  const read = call('catalog.read', { params: { appId }, query: { version: version ?? undefined } });
  const [found, apps, offers, { unmetNeeds }] = await Promise.all([
    read,
    readInstalledApps(),
    call('account.offers'),
    import('@platform/contract/unmet-needs'),
  ]);
  const detail = { ...found, permissions: requestsByRoute(found.permissions, found.publicRoutes) };
  const wanted = detail.version;
  const installed = apps.find((app) => app.appId === appId);
  if (installed === undefined) {
    const secrets =
      detail.secretSlots.length === 0 ? [] : (await call('secrets.list', ONE_PAGE)).items.map(({ name }) => name);
    // Apart from the first load, as the pages of Settings.
    const { InstallReview } = await import('./install-review.tsx');
    return ask(InstallReview, asker, { detail, version: wanted, secrets, unmet: unmetNeeds(found, offers) });
  }
  if (installed.version === wanted) return true;
  const [held, { items: bindings }] = await Promise.all([
    readHeld(appId),
    call('apps.secretBindings.list', { params: { appId } }),
  ]);
  const unmet = unmetNeeds({ ...found, permissions: newRequests(found.permissions, held) }, offers);
  const { UpgradeReview } = await import('./upgrade-review.tsx');
  return ask(UpgradeReview, asker, { detail, from: installed.version, version: wanted, held, bindings, unmet });
}

/** What the installed version requested, by route as {@link requestsByRoute}, and was granted. */
async function readHeld(appId: string): Promise<PermissionsView> {
  const params = { appId };
  const held = await call('apps.permissions.read', { params });
  const asked = resourcesOf(held.requested, 'endpoints.public');
  if (asked.length === 0) return held;
  const declared = (await call('apps.public', { params })).routes.map(({ method, path }) => `${method}:${path}`);
  return { ...held, requested: requestsByRoute(held.requested, openRoutes(declared, asked)) };
}
