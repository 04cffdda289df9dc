// The catalog over HTTP.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { askedResources, type CatalogEntry, type DomainRoute, limits, openRoutes, refuse } from '@platform/contract';
import { endUpload } from '@platform/http';
import type { CoreContext } from '../context.ts';
import { requestedGrants } from '../grants/frontend-grants.ts';
import { resourcesOf } from '../grants/grant-coverage.ts';
import type { HandlersOf } from '../http/handlers.ts';

import { hiddenFrom, isOfferedTo } from './master-apps.ts';
import { compareVersions } from './newest-version.ts';
import { publishPackage } from './publish-package.ts';
import { type HeldUpload, PublishSlots } from './publish-slots.ts';
import { type AppVersion, findAppVersion, listLastVersions, listNewestVersions } from './queries.ts';
import { declaredSlots } from './secret-slots.ts';
import { serveIcon } from './serve-icon.ts';
import type { VerifyPackage } from './verify-package.ts';
import { deleteOwnVersion } from './withdraw-version.ts';

const LIST = 'catalog';

export type CatalogRoute = DomainRoute<'catalog'>;

/** @param verify checks the packages that are published here */
export function catalogRoutes(context: CoreContext, verify: VerifyPackage): HandlersOf<CatalogRoute> {
  const { database, cursors } = context;
  const slots = new PublishSlots();
  return {
    'catalog.list': async ({ caller, query: { limit, cursor } }) => {
      const after = cursor === undefined ? '' : String(cursors.decode(LIST, cursor));
      const hidden = hiddenFrom(context, caller.accountName);
      const found = await listNewestVersions(database, { after, limit: limit + 1, hidden, viewer: caller.accountKey });
      const items = found.slice(0, limit).map(catalogEntryOf);
      const last = items.at(-1);
      const nextCursor = found.length > limit && last !== undefined ? cursors.encode(LIST, last.appId) : null;
      return { status: 200, body: { items, nextCursor } };
    },

    'catalog.read': async ({ caller, params: { appId }, query }) => {
      const app = await findAppVersion(database, appId, query.version);
      if (app === undefined || !isOfferedTo(context, { key: caller.accountKey, name: caller.accountName }, app))
        throw refuse('not_found');
      const permissions = requestedGrants(app.manifest);
      const versions = await listLastVersions(database, appId, limits.pageMaximum.value);
      versions.sort((a, b) => compareVersions(a.version, b.version));
      return {
        status: 200,
        body: {
          ...catalogEntryOf(app),
          permissions,
          secretSlots: declaredSlots(app.manifest),
          publicRoutes: openRoutes(app.manifest.publicEndpoints ?? [], resourcesOf(permissions, 'endpoints.public')),
          versions: versions.map((version) => ({ ...version, publishedAt: version.publishedAt.toISOString() })),
        },
      };
    },

    'catalog.icon': async ({ caller, params: { appId }, request, reply }) => {
      const app = await findAppVersion(database, appId);
      if (app === undefined || !isOfferedTo(context, { key: caller.accountKey, name: caller.accountName }, app))
        throw refuse('not_found');
      await serveIcon(context, app, request, reply);
      return { streamed: true };
    },

    'catalog.publish': async ({ caller: { accountKey }, params: { appId, version }, request, reply, stillAllowed }) => {
      const body = await slots.hold(accountKey, uploadOf(request.raw, reply.raw), (stillHeld) => {
        const mayPublish = async (): Promise<void> => {
          await stillAllowed();
          stillHeld();
        };
        const upload = {
          publisher: accountKey,
          source: request.raw,
          size: lengthOf(request),
          stillAllowed: mayPublish,
        };
        return publishPackage({ ...context, verify }, { appId, version, ...upload });
      });
      return { status: 201, body };
    },

    'catalog.withdraw': async ({ caller: { accountKey }, params: { appId, version } }) => {
      await deleteOwnVersion(context, { appId, version, publisher: accountKey });
      return { status: 204 };
    },
  };
}

function uploadOf(request: IncomingMessage, response: ServerResponse): HeldUpload {
  const before = request.socket.bytesRead;
  return {
    bytes: () => request.socket.bytesRead - before,
    isAhead: () => request.readableLength > 0,
    hasArrived: () => request.complete,
    end: (refusal) => endUpload(response, refusal),
  };
}

/** Of the body; `undefined` for one that is sent in chunks. The server has checked the field. */
function lengthOf({ headers }: { readonly headers: IncomingHttpHeaders }): number | undefined {
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}

/** An app as the Store shows it. */
function catalogEntryOf({ appId, version, manifest, publisher, publishedAt }: AppVersion): CatalogEntry {
  return {
    appId,
    name: manifest.name,
    summary: manifest.summary,
    version,
    categories: manifest.categories ?? [],
    publisher,
    icon: iconPath(appId, manifest),
    hasFrontend: manifest.frontend !== undefined,
    hasWorkload: manifest.workload !== undefined,
    resources: manifest.workload === undefined ? null : askedResources(manifest.workload),
    connects: resourcesOf(requestedGrants(manifest), 'network.connect'),
    publishedAt: publishedAt.toISOString(),
  };
}

/** Path of an app's icon on the shell's origin, `null` without one. */
export function iconPath(appId: string, { icon }: Pick<AppVersion['manifest'], 'icon'>): string | null {
  return icon === undefined ? null : `/v1/catalog/${appId}/icon`;
}
