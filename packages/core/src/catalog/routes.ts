// The catalog over HTTP.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import {
  askedResources,
  type CatalogDetail,
  type CatalogEntry,
  type DomainRoute,
  limits,
  manifestRating,
} from '@platform/contract';
import { endUpload } from '@platform/http';
import type { NamedAccount } from '../accounts/face.ts';
import type { CoreContext } from '../context.ts';
import { requestedGrants } from '../grants/frontend-grants.ts';
import { resourcesOf } from '../grants/grant-coverage.ts';
import type { HandlersOf } from '../http/handlers.ts';

import { findOffered, listOffered } from './find-offered.ts';
import type { DrawnIcons } from './icons/drawn-icon.ts';
import type { IconDrawer } from './icons/icon-drawer.ts';
import { haveSameIcon } from './icons/same-icon.ts';
import { hiddenFrom } from './master-apps.ts';
import { needsOf } from './needs.ts';
import type { VerifyPackage } from './packages/verify-package.ts';
import { type AppVersion, findInstalledVersion, listNewestVersions } from './queries.ts';
import { declaredSlots } from './secret-slots.ts';
import { serveIcon, servePicture } from './serve-picture.ts';
import { requirePublisher } from './versions/may-publish.ts';
import { compareVersions } from './versions/newest-version.ts';
import { publishPackage } from './versions/publish-package.ts';
import { type HeldUpload, PublishSlots } from './versions/publish-slots.ts';
import { deleteOwnVersion } from './versions/withdraw-version.ts';

const LIST = 'catalog';

export type CatalogRoute = DomainRoute<'catalog'>;

export interface CatalogParts {
  /** Checks the packages that are published here. */
  readonly verify: VerifyPackage;
  /** Draws their icons. */
  readonly drawer: IconDrawer;
  readonly drawn: DrawnIcons;
}

export function catalogRoutes(context: CoreContext, { verify, drawer, drawn }: CatalogParts): HandlersOf<CatalogRoute> {
  const { database, cursors } = context;
  const slots = new PublishSlots();
  return {
    'catalog.list': async ({ caller, query: { limit, cursor } }) => {
      const after = cursor === undefined ? '' : String(cursors.decode(LIST, cursor));
      const hidden = await hiddenFrom(context, caller.accountName);
      const found = await listNewestVersions(database, { after, limit: limit + 1, hidden, viewer: caller.accountKey });
      const items = found.slice(0, limit).map((app) => catalogEntryOf(app, caller.accountKey));
      const last = items.at(-1);
      const nextCursor = found.length > limit && last !== undefined ? cursors.encode(LIST, last.appId) : null;
      return { status: 200, body: { items, nextCursor } };
    },

    'catalog.read': async ({ caller, params: { appId }, query }) => {
      const offered = await findOffered(context, accountOf(caller), appId, query.version);
      const app = offered.release;
      const { changes, screenshots = [] } = app.manifest;
      const versions = await listOffered(context, offered, limits.pageMaximum.value);
      versions.sort((a, b) => compareVersions(a.version, b.version));
      return {
        status: 200,
        body: {
          ...catalogEntryOf(app, caller.accountKey),
          ...needsOf(app.manifest),
          changes: changes ?? null,
          screenshots: screenshots.map((_, index) => screenshotPath(app, index)),
          size: Number(app.size),
          secretSlots: declaredSlots(app.manifest),
          installed: await installedOf(context, accountOf(caller), app),
          versions: versions.map((version) => ({ ...version, publishedAt: version.publishedAt.toISOString() })),
        },
      };
    },

    'catalog.icon': async ({ caller, params: { appId }, request, reply }) => {
      const { packageHash, manifest } =
        (await findInstalledVersion(database, caller.accountKey, appId)) ??
        (await findOffered(context, accountOf(caller), appId)).release;
      await serveIcon(context, drawn, { packageHash, name: manifest.icon }, request, reply);
      return { streamed: true };
    },

    'catalog.versionIcon': async ({ caller, params: { appId, version }, request, reply }) => {
      const { packageHash, manifest } = (await findOffered(context, accountOf(caller), appId, version)).release;
      await serveIcon(context, drawn, { packageHash, name: manifest.icon }, request, reply);
      return { streamed: true };
    },

    'catalog.screenshot': async ({ caller, params: { appId, version, number }, request, reply }) => {
      const { packageHash, manifest } = (await findOffered(context, accountOf(caller), appId, version)).release;
      const name = manifest.screenshots?.[Number(number) - 1];
      await servePicture(context, { packageHash, name }, request, reply);
      return { streamed: true };
    },

    'catalog.publish': async ({
      caller: { accountKey, accountName },
      params: { appId, version },
      request,
      reply,
      stillAllowed,
    }) => {
      await requirePublisher(context, accountName);
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
        return publishPackage({ ...context, verify, drawer }, { appId, version, ...upload });
      });
      return { status: 201, body };
    },

    'catalog.withdraw': async ({ caller: { accountKey }, params: { appId, version } }) => {
      await deleteOwnVersion(context, { appId, version, publisher: accountKey });
      return { status: 204 };
    },
  };
}

function accountOf({ accountKey, accountName }: { readonly accountKey: string; readonly accountName: string }) {
  return { key: accountKey, name: accountName };
}

/** How the version that this account has installed differs in what people know an app by. */
async function installedOf(
  context: CoreContext,
  viewer: NamedAccount,
  shown: AppVersion,
): Promise<CatalogDetail['installed']> {
  const present = await findInstalledVersion(context.database, viewer.key, shown.appId);
  if (present === undefined) return null;
  const { version, manifest } = present;
  const sameIcon = await haveSameIcon(context, present, shown);
  return { version, name: manifest.name, icon: iconPath(shown.appId, version, manifest), sameIcon };
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

/** An app as the Store shows it to this account. */
function catalogEntryOf(app: AppVersion, viewer: string): CatalogEntry {
  const { appId, version, manifest, publisher, publishedAt, visibility, ownerKey } = app;
  const permissions = requestedGrants(manifest);
  return {
    appId,
    name: manifest.name,
    summary: manifest.summary,
    version,
    categories: manifest.categories ?? [],
    publisher,
    icon: iconPath(appId, version, manifest),
    hasFrontend: manifest.frontend !== undefined,
    hasWorkload: manifest.workload !== undefined,
    resources: manifest.workload === undefined ? null : askedResources(manifest.workload),
    connects: resourcesOf(permissions, 'network.connect'),
    rating: manifestRating({ ...manifest, permissions }).rating,
    visibility,
    own: ownerKey === viewer,
    publishedAt: publishedAt.toISOString(),
  };
}

function screenshotPath({ appId, version }: AppVersion, index: number): string {
  return `${versionPath(appId, version)}/screenshots/${index + 1}`;
}

/** Path of a version's icon on the shell's origin, `null` without one. */
export function iconPath(
  appId: string,
  version: string,
  { icon }: Pick<AppVersion['manifest'], 'icon'>,
): string | null {
  return icon === undefined ? null : `${versionPath(appId, version)}/icon`;
}

function versionPath(appId: string, version: string): string {
  return `/v1/catalog/${appId}/versions/${encodeURIComponent(version)}`;
}
