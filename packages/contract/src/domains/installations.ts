// Installed apps: install, launch, upgrade, and what apps see of them (contract 3).

import * as z from 'zod';
import type { Errors, Limits, Routes } from '../domain.ts';
import { appId, timestamp, version } from '../primitives.ts';
import type { CatalogDetail, CatalogEntry } from './catalog.ts';
import { emptyBody, json, ofApp, page, pageQuery } from './common.ts';
import { grant, grants } from './grants.ts';
import type { UnmetNeed } from './offers.ts';
import type { WorkloadStatus } from './workloads.ts';

const limits = {
  frontendCapabilitySeconds: { value: 43_200, unit: 'seconds', meaning: 'maximum lifetime of a frontend capability' },
  frontendCapabilities: {
    value: 64,
    unit: 'items',
    meaning: 'frontend capabilities of one app in one session; one more ends the oldest',
  },
  launchCapabilitySeconds: {
    value: 60,
    unit: 'seconds',
    meaning: 'lifetime of the single-use capability in a launch URL',
  },
} as const satisfies Limits;

const errors = {
  already_installed: {
    status: 409,
    title: 'This app is already installed.',
    help: 'Use the upgrade route to change the version.',
  },
} as const satisfies Errors;

export const installedApp = z.strictObject({
  appId,
  name: z.string(),
  summary: z.string(),
  version,
  /** The newest published version, when it is newer than the installed one. */
  upgrade: version.nullable(),
  /** The version before the last update, which its owner can go back to. */
  former: version.nullable(),
  publisher: z.string(),
  /** Of the installed version. */
  icon: z.string().nullable(),
  chrome: z.enum(['auto', 'always', 'never']),
  hasFrontend: z.boolean(),
  /** A backend that its owner reviewed. */
  hasWorkload: z.boolean(),
  /** A backend that came with an update and does not run until its owner reviewed it. */
  hasUnreviewedWorkload: z.boolean(),
  /** The installed version requests AI models; whether it may use them, its grants say. */
  requestsIntelligence: z.boolean(),
  /** It is an agent that searches the web, with the consent of its person. */
  searchesWeb: z.boolean(),
  /** The account's home screen: the app that was chosen with `PUT /v1/account/launcher`, otherwise Launcher. */
  home: z.boolean(),
  /** Comes with the platform and follows its version; can be removed and installed again like any other. */
  system: z.boolean(),
  /** A part of the platform itself, such as Store; not an app that only comes with it, such as an example. */
  builtIn: z.boolean(),
  installedAt: timestamp,
});
export type InstalledApp = z.infer<typeof installedApp>;

export const installBody = z.strictObject({
  appId,
  version: version.optional(),
  /** Narrows what the app requested; absent grants all of it but critical permissions, which have to be named. */
  permissions: z.array(grant).max(grants.limits.grantsPerInstallation.value).optional(),
});

export const chooseLauncherBody = z.strictObject({ appId });

export const upgradeBody = z.strictObject({
  version,
  /**
   * Whether the owner grants all that the backend of this version asks for: memory, processors, processes, disk, running
   * all the time. Otherwise it runs within what it was granted before, and a first backend not at all. With the installed
   * version, it grants that later.
   */
  acceptResources: z.boolean().default(false),
});

export const launchDescriptor = z.strictObject({
  appId,
  /** The app's own origin. */
  origin: z.string(),
  /** Carries ticket and capabilities in its fragment only. `null` without a frontend: native clients take `backend`. */
  url: z.string().nullable(),
  /** `auto` without a frontend. */
  chrome: z.enum(['auto', 'always', 'never']),
  permissions: z.array(grant),
  /** Single use: exchanged once, at once, by the frontend SDK. `null` without a frontend. */
  frontendCapability: z.string().nullable(),
  /** What native clients and the frontend reach the backend with; `null` without one. */
  backend: z
    .strictObject({
      endpointTicket: z.string(),
      /** `pdc_…`: made for this launch, and ends with the session, the installation, on demand, or after 12 hours. */
      capability: z.string(),
    })
    .nullable(),
});
export type LaunchDescriptor = z.infer<typeof launchDescriptor>;

/** What the fragment `#platform=` of a launch URL holds, as base64url of its JSON. */
export const launchFragment = z.strictObject({
  capability: z.string(),
  ticket: z.string().nullable(),
  dataPlane: z.string().nullable(),
  /** Origin of the platform's services. */
  api: z.string(),
  /** Origin of the shell, which frames the app. */
  shell: z.string(),
});
export type LaunchFragment = z.infer<typeof launchFragment>;

/**
 * What an endpoint ticket of kind `pet1.` holds, as base64url of its JSON: the address of the backend. It opens nothing by
 * itself: every request needs a capability.
 */
export const endpointTicket = z.strictObject({ url: z.string() });

export const exchangeBody = z.strictObject({ capability: z.string().min(20).max(100) });
export const exchangeAnswer = z.strictObject({ appId, capability: z.string(), expiresAt: timestamp });
export type ExchangeAnswer = z.infer<typeof exchangeAnswer>;

export const servicesApp = z.strictObject({
  appId,
  name: z.string(),
  summary: z.string(),
  /** The installed one; of an app that is not installed the newest. */
  version,
  icon: z.string().nullable(),
  /** False for an app that the account only published. */
  installed: z.boolean(),
  running: z.boolean(),
});
export type ServicesApp = z.infer<typeof servicesApp>;

const routes = {
  'apps.list': {
    method: 'GET',
    path: '/v1/apps',
    summary: 'Installed apps',
    callers: ['session'],
    query: pageQuery,
    answers: { 200: page(installedApp) },
    rate: 'session',
  },
  'apps.install': {
    method: 'POST',
    path: '/v1/apps',
    summary: 'Install an app; critical permissions are granted only where `permissions` names them',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'an app has its own grants, no secret before one is bound, and is in the list of apps' },
    body: json(installBody),
    answers: { 201: z.strictObject({ app: installedApp }) },
    refuses: [
      'not_found',
      'already_installed',
      'grants_exceed_request',
      'account_share',
      'disk_quota',
      'placement_not_allowed',
    ],
    rate: 'session',
  },
  'apps.uninstall': {
    method: 'DELETE',
    path: '/v1/apps/:appId',
    summary: 'Remove an app; its volume is kept',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'takes one app, whose data is kept' },
    params: ofApp,
    answers: { 204: null },
    rate: 'session',
  },
  'apps.launch': {
    method: 'POST',
    path: '/v1/apps/:appId/launch',
    summary: 'Open an app',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'opens what is installed' },
    params: ofApp,
    body: json(emptyBody.optional()),
    answers: { 200: launchDescriptor },
    refuses: ['runtime_paused', 'workload_unavailable'],
    rate: 'session',
  },
  'apps.upgrade': {
    method: 'POST',
    path: '/v1/apps/:appId/upgrade',
    summary: 'Change the version; grants never grow, and resources only with `acceptResources`',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'an app has its own grants, and no more than were reviewed' },
    params: ofApp,
    body: json(upgradeBody),
    answers: { 200: z.strictObject({ app: installedApp }) },
    refuses: ['account_share', 'disk_quota', 'placement_not_allowed'],
    rate: 'session',
  },
  'launcher.choose': {
    method: 'PUT',
    path: '/v1/account/launcher',
    summary: 'Make an app with `apps.launcher.register` the home screen',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'chooses among installed apps, and can be taken back' },
    body: json(chooseLauncherBody),
    answers: { 204: null },
    refuses: ['grant_missing', 'not_found'],
    rate: 'session',
  },
  'launcher.restore': {
    method: 'DELETE',
    path: '/v1/account/launcher',
    summary: 'Make Launcher the home screen again',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'chooses among installed apps, and can be taken back' },
    answers: { 204: null },
    rate: 'session',
  },
  'frontend.exchange': {
    method: 'POST',
    path: '/v1/frontend/exchange',
    summary: 'Exchange the single-use capability of a launch',
    callers: ['anonymous'],
    origin: 'app',
    body: json(exchangeBody),
    answers: { 200: exchangeAnswer },
    refuses: ['unauthenticated'],
    rate: 'none',
  },
  'services.apps.list': {
    method: 'GET',
    path: '/v1/services/apps',
    summary: 'Apps that the account installed or published',
    callers: ['installation', 'frontend'],
    grant: { id: 'apps.catalog.read', resource: 'any' },
    query: pageQuery,
    answers: { 200: page(servicesApp) },
    rate: 'service',
  },
} as const satisfies Routes;

export const installations = { limits, errors, routes } as const;

/**
 * What the page of an app in the Store shows. `link` is the address of that page, which finds unlisted apps too; `unmet` is what of it
 * cannot work on this platform, for the platform's own Store, and empty for every other app.
 */
export type AppDetails = CatalogDetail & { readonly link: string; readonly unmet: readonly UnmetNeed[] };

declare module '../bridge-calls.ts' {
  interface BridgeCalls {
    /**
     * Grant `apps.catalog.read`; the scope `catalog` needs `apps.install` and has the apps it covers. The scope is `installed` when
     * absent. Icons are `data:` addresses, because frames may not load from the shell; with `icons: 'path'` they are paths, and
     * `apps.icon` gives the picture of one.
     */
    'apps.list': {
      params: { readonly scope?: 'installed' | 'catalog'; readonly icons?: 'data' | 'path' };
      result: { readonly items: readonly (InstalledApp | CatalogEntry)[] };
    };
    /** Grant `apps.install` on the app. `version` is the newest when absent. */
    'apps.details': {
      params: { readonly appId: string; readonly version?: string };
      result: AppDetails;
    };
    /** Grant `apps.install` on the app. A `data:` address, `null` when there is none or it could not be read. */
    'apps.icon': {
      params: { readonly appId: string; readonly version: string };
      result: { readonly icon: string | null };
    };
    /** Grant `apps.install` on the app. A `data:` address; `number` counts from 1. `null` when it could not be read. */
    'apps.screenshot': {
      params: { readonly appId: string; readonly version: string; readonly number: number };
      result: { readonly picture: string | null };
    };
    /** Grant `apps.lifecycle` on the app; only for the app in front. `target` is a query string that starts with `?`. */
    'apps.open': { params: { readonly appId: string; readonly target?: string }; result: null };
    /** Grant `apps.lifecycle` on the app, as for `apps.stop`. */
    'apps.start': { params: { readonly appId: string }; result: WorkloadStatus };
    'apps.stop': { params: { readonly appId: string }; result: WorkloadStatus };
    /** Back to Home. Grant `apps.lifecycle` on the calling app itself; only for the app in front. */
    'apps.return': { params: undefined; result: null };
    /**
     * Grant `apps.install` on the app; only for the app in front. The shell shows its own review, for an installed app of the other
     * version, newer or older; `installed` is false when the person declined.
     */
    'apps.requestInstall': {
      params: { readonly appId: string; readonly version?: string };
      result: { readonly installed: boolean };
      asks: true;
    };
    /**
     * Only for the platform's own Store in front, with `apps.install` on the app: the publisher deletes a version, and core
     * refuses everyone else. `withdrawn` is false when they declined.
     */
    'apps.withdraw': {
      params: { readonly appId: string; readonly version: string };
      result: { readonly withdrawn: boolean };
      asks: true;
    };
    /**
     * Grant `apps.uninstall` on the app; only for the app in front. Launcher, Store and Settings: only the platform's own
     * Settings. `removed` is false when the person declined.
     */
    'apps.uninstall': { params: { readonly appId: string }; result: { readonly removed: boolean }; asks: true };
  }
}
