// Grants (specification 2.3, contract 3): what an installation may do, and on which resources.
import * as z from 'zod';
import type { Errors, Limits, Routes } from '../domain.ts';
import { didYouMean } from '../near-names.ts';
import { isPermissionId, type PermissionId, permissions } from '../permissions.ts';
import { readableLine } from '../text.ts';
import { json, ofApp } from './common.ts';

const limits = {
  grantsPerInstallation: { value: 64, unit: 'items', meaning: 'distinct permission ids of an installation' },
  grantResources: { value: 256, unit: 'items', meaning: 'resources of one grant' },
  openedCount: {
    value: 10_000,
    unit: 'items',
    meaning: 'of what a grant opens, as far as it is counted',
  },
  grantResourceLength: { value: 256, unit: 'characters', meaning: 'one resource of a grant' },
} as const satisfies Limits;

const errors = {
  grants_exceed_request: {
    status: 403,
    title: 'The grants go beyond what the app requested.',
    help: 'Grant only what `requested` covers. `errors` lists each excess grant.',
  },
} as const satisfies Errors;

export const permissionId = z
  .string()
  .max(64)
  .refine(isPermissionId, {
    error: ({ input }) => `is not a permission${didYouMean(String(input), Object.keys(permissions))}`,
  })
  .transform((id) => id as PermissionId);

/** Exact by default; `*` alone or a trailing `*` is a wildcard; a `*` anywhere else is refused. */
export const resource = z
  .string()
  .min(1)
  .max(limits.grantResourceLength.value)
  .regex(/^[^*\s]*\*?$/u, 'must not contain spaces, or `*` except as its last character')
  .regex(...readableLine);

export const grant = z.strictObject({
  id: permissionId,
  resources: z.array(resource).max(limits.grantResources.value),
});
export type Grant = z.infer<typeof grant>;

export const requestedGrant = grant.extend({
  resources: z.array(resource).min(1).max(limits.grantResources.value),
  /** Why the app asks, shown in the permission review. */
  reason: z
    .string()
    .min(1)
    .max(200)
    .regex(...readableLine)
    .optional(),
});
export type RequestedGrant = z.infer<typeof requestedGrant>;

/** What the backend of an app may use of its machine. */
export const backendResources = z.strictObject({
  /** `automatic` runs when it is used and stops when idle; `always` runs all the time. */
  mode: z.enum(['automatic', 'always']),
  /** How long after its last use an `automatic` one stays awake. */
  idleSeconds: z.int(),
  memoryMiB: z.int(),
  /** Processors: 0.5 is half of one. */
  cpus: z.number(),
  /** Processes and threads together. */
  pids: z.int(),
  /** Size of its volume; 0 without one. */
  diskMiB: z.int(),
});
export type BackendResources = z.infer<typeof backendResources>;

export const permissionsBody = z.strictObject({
  permissions: z.array(grant).max(limits.grantsPerInstallation.value),
});

export const permissionsView = z.strictObject({
  permissions: z.array(grant),
  /** Held from former versions, and without effect until a version requests it again. */
  setAside: z.array(grant),
  requested: z.array(requestedGrant),
  /**
   * What its backend was granted and what the installed version asks for; `null` without a backend. `granted` is `null`
   * for a backend that came with an update: it does not run until its owner reviewed it.
   */
  resources: z
    .strictObject({
      /** What the backend is: `node`, `binary`, `oci`. */
      runtime: z.string(),
      granted: backendResources.nullable(),
      requested: backendResources,
    })
    .nullable(),
  /** Grows with every change of the grants. */
  revision: z.number().int(),
});
export type PermissionsView = z.infer<typeof permissionsView>;

/** What a grant opens is counted by kind. */
export const openedThing = z.enum([
  'apps',
  'collection-items',
  'collections',
  'conversations',
  'files',
  'messages',
  'notifications',
  'schedules',
  'search-entries',
  'secrets',
  'tools',
  'wallet-policies',
  'wallet-proposals',
  'wallet-proposals-left',
]);
export type OpenedThing = z.infer<typeof openedThing>;

export const opened = z.strictObject({
  what: openedThing,
  /** Up to `limits.openedCount`. */
  count: z.int().nonnegative(),
  /** There are more. */
  more: z.boolean(),
});
export type Opened = z.infer<typeof opened>;

/** What the grants of an app open today. A grant of which nothing can be counted is left out. */
export const grantsOpened = z.strictObject({
  grants: z.array(z.strictObject({ id: permissionId, opens: z.array(opened) })),
});
export type GrantsOpened = z.infer<typeof grantsOpened>;

const routes = {
  'apps.permissions.read': {
    method: 'GET',
    path: '/v1/apps/:appId/permissions',
    summary: 'Grants of an installed app',
    callers: ['session'],
    params: ofApp,
    answers: { 200: permissionsView },
    rate: 'session',
  },
  'apps.permissions.replace': {
    method: 'PUT',
    path: '/v1/apps/:appId/permissions',
    summary: 'Replace the grants within the published request',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'an app gets no more than its version asks for, and the app list shows it' },
    params: ofApp,
    body: json(permissionsBody),
    answers: { 200: permissionsView },
    refuses: ['grants_exceed_request', 'account_share'],
    rate: 'session',
  },
  'apps.opened': {
    method: 'GET',
    path: '/v1/apps/:appId/opened',
    summary: 'What the grants of an installed app open today, in numbers',
    callers: ['session'],
    params: ofApp,
    answers: { 200: grantsOpened },
    rate: 'session',
  },
} as const satisfies Routes;

export const grants = { limits, errors, routes } as const;
