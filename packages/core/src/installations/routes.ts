// The routes of installed apps: HTTP in and out, nothing else.
import { clientNetwork, type DomainRoute } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { FailedLookups } from '../http/callers/failed-lookups.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { chooseLauncher, restoreLauncher } from './choose-launcher.ts';
import { deleteData } from './delete-data.ts';
import { deleteVolume } from './delete-volume.ts';
import { developApp, requireOwnApp } from './develop-app.ts';
import { exchangeCapability } from './exchange-capability.ts';
import { readGrantsOpened } from './grants-opened.ts';
import { installApp } from './install-app.ts';
import { launchApp } from './launch-app.ts';
import { readLogs, readStatus, startApp, stopApp } from './lifecycle.ts';
import { findApp, listApps, listSummaries } from './list-apps.ts';
import { streamLogs } from './log-stream.ts';
import { readPermissions, replacePermissions } from './permissions.ts';
import { readPublicAddress, readPublicRequests, renewPublicAddress } from './public-address.ts';
import { readStorageUse } from './storage-use.ts';
import { uninstallApp } from './uninstall-app.ts';
import { upgradeApp } from './upgrade-app.ts';

export type InstallationRoute = DomainRoute<
  'installations' | 'development' | 'workloads' | 'grants' | 'volumes' | 'publicAddresses'
>;

export function installationRoutes(context: CoreContext): HandlersOf<InstallationRoute> {
  const failedExchanges = new FailedLookups({ most: context.rates.exchange.perMinute, clock: context.clock });
  return {
    'apps.list': async ({ caller, query }) => ({
      status: 200,
      body: await listApps(context, caller.accountKey, query),
    }),
    'apps.install': async ({ caller, body }) => {
      await installApp(context, { key: caller.accountKey, name: caller.accountName }, body);
      return { status: 201, body: { app: await findApp(context, caller.accountKey, body.appId) } };
    },
    'apps.uninstall': async ({ caller, params }) => {
      await uninstallApp(context, caller.accountKey, params.appId);
      return { status: 204 };
    },
    'apps.data.delete': async ({ caller, params, request }) => {
      await deleteData(context, caller.accountKey, params.appId);
      context.log.info(
        { requestId: request.id, account: caller.accountName, app: params.appId },
        'data of an app is deleted',
      );
      return { status: 202, body: { status: 'deleting' } };
    },
    'storage.use': async ({ caller }) => ({ status: 200, body: await readStorageUse(context, caller.accountKey) }),
    'volumes.delete': async ({ caller, params }) => {
      await deleteVolume(context, caller.accountKey, params.appId);
      return { status: 204 };
    },
    'apps.launch': async ({ caller, params }) => ({
      status: 200,
      body: await launchApp(context, caller, params.appId),
    }),
    'apps.start': async ({ caller, params }) => ({
      status: 200,
      body: await startApp(context, caller.accountKey, params.appId),
    }),
    'apps.stop': async ({ caller: { accountKey }, params: { appId }, body }) => {
      const by = body?.byApp === undefined ? 'owner' : (`app:${body.byApp}` as const);
      return { status: 200, body: await stopApp(context, { accountKey, appId }, by) };
    },
    'apps.status': async ({ caller, params }) => ({
      status: 200,
      body: await readStatus(context, caller.accountKey, params.appId),
    }),
    'apps.logs': async ({ caller, params, query }) => {
      if (caller.kind === 'author') await requireOwnApp(context, caller.accountKey, params.appId);
      return { status: 200, body: await readLogs(context, caller.accountKey, params.appId, query) };
    },
    'apps.logs.stream': async (call) => {
      const { caller, params } = call;
      if (caller.kind === 'author') await requireOwnApp(context, caller.accountKey, params.appId);
      return streamLogs(context, call);
    },
    'development.install': async ({ caller, params, body }) => {
      const account = { key: caller.accountKey, name: caller.accountName };
      const release = { appId: params.appId, version: body.version };
      const { name, hasBackend, missing } = await developApp(context, account, release);
      return { status: 200, body: { name, hasBackend, missing } };
    },
    'apps.upgrade': async ({ caller, params, body }) => {
      await upgradeApp(context, caller.accountKey, params.appId, body);
      return { status: 200, body: { app: await findApp(context, caller.accountKey, params.appId) } };
    },
    'launcher.choose': async ({ caller, body }) => {
      await chooseLauncher(context, caller.accountKey, body.appId);
      return { status: 204 };
    },
    'launcher.restore': async ({ caller }) => {
      await restoreLauncher(context, caller.accountKey);
      return { status: 204 };
    },
    'apps.permissions.read': async ({ caller, params }) => ({
      status: 200,
      body: await readPermissions(context, caller.accountKey, params.appId),
    }),
    'apps.permissions.replace': async ({ caller, params, body }) => ({
      status: 200,
      body: await replacePermissions(context, caller.accountKey, params.appId, body.permissions),
    }),
    'apps.opened': async ({ caller, params }) => ({
      status: 200,
      body: await readGrantsOpened(context, caller.accountKey, params.appId),
    }),
    'apps.public': async ({ caller, params }) => ({
      status: 200,
      body: await readPublicAddress(context, caller.accountKey, params.appId),
    }),
    'apps.renewPublic': async ({ caller, params }) => ({
      status: 200,
      body: await renewPublicAddress(context, caller.accountKey, params.appId),
    }),
    'apps.publicRequests': async ({ caller, params }) => ({
      status: 200,
      body: await readPublicRequests(context, caller.accountKey, params.appId),
    }),
    'frontend.exchange': async ({ body: { capability }, origin, request }) => ({
      status: 200,
      body: await exchangeCapability(context, failedExchanges, {
        capability,
        origin,
        network: clientNetwork(request.ip),
      }),
    }),
    'services.apps.list': async ({ caller, query }) => ({
      status: 200,
      body: await listSummaries(context, caller, query),
    }),
  };
}
