// Apps that apps make (contract 4g): an app hands in the files of another, and its person accepts them or not.
import * as z from 'zod';
import { KiB, type Limits, MiB, type Routes } from '../domain.ts';
import { appId, draftId, MOST_COUNTED, timestamp, version } from '../primitives.ts';
import { catalogDetail } from './catalog.ts';
import { emptyBody, json, page, pageQuery } from './common.ts';
import { grant, grants } from './grants.ts';
import { packages } from './packages.ts';
import { logEntry } from './workloads.ts';

const limits = {
  draftBody: { value: 5 * MiB, unit: 'bytes', meaning: 'files of an app that an app makes, as JSON' },
  draftFiles: { value: 500, unit: 'items', meaning: 'files of an app that an app makes' },
  makeAppRate: { value: 10, unit: 'per minute', meaning: 'apps that one installation hands in' },
  draftDays: { value: 7, unit: 'days', meaning: 'time in which a person can accept an app that an app made' },
  draftsPerInstallation: {
    value: 10,
    unit: 'items',
    meaning: 'apps made by one installation that wait for their person; one more of the same app takes its place',
  },
  draftsPerAccount: { value: 20, unit: 'items', meaning: 'apps made by apps that wait for one person' },
  draftBytesPerAccount: {
    value: 30 * MiB,
    unit: 'bytes',
    meaning: 'files of all apps that wait for one person; of one installation at most half of it',
  },
  madeApps: {
    value: 50,
    unit: 'items',
    meaning: 'apps of one account that apps made, those without a version left out',
  },
  madeAppText: {
    value: 24 * KiB,
    unit: 'characters',
    meaning: 'source, log or errors of an app in one answer to the app that made it',
  },
  madeAppLogLines: { value: 200, unit: 'items', meaning: 'lines of a log in one answer to the app that made the app' },
  pageErrors: { value: 50, unit: 'items', meaning: 'errors of the pages of one app that an app made, the last ones' },
  pageErrorsSize: {
    value: 256 * KiB,
    unit: 'bytes',
    meaning: 'such errors of one app in sum; the oldest give way',
  },
  pageErrorsAccountSize: {
    value: 2 * MiB,
    unit: 'bytes',
    meaning: 'such errors of all apps of one account in sum; the oldest give way, of whichever app',
  },
  pageErrorHours: { value: 24, unit: 'items', meaning: 'hours for which such an error is kept after it last happened' },
  pageErrorReport: { value: 16 * KiB, unit: 'bytes', meaning: 'report of such an error, as JSON' },
  draftPreviewSeconds: {
    value: 600,
    unit: 'seconds',
    meaning: 'time for which the pages of an app that waits for its person are served for a preview',
  },
} as const satisfies Limits;

/** What each file is called in the package, and its text. */
const files = z
  .record(z.string().min(1).max(packages.limits.packagePathLength.value), z.string())
  .refine(
    (all) => Object.keys(all).length <= limits.draftFiles.value,
    `may hold at most ${limits.draftFiles.value} files`,
  );

export const makeAppBody = z.strictObject({
  appId,
  /** By their path in the package: `manifest.json`, and others below `frontend/` and `workload/`. */
  files,
});
export type MakeApp = z.infer<typeof makeAppBody>;

export const changeAppBody = z.strictObject({
  /** What is new or other than before, by path; `null` takes a file away. */
  files: z
    .record(z.string().min(1).max(packages.limits.packagePathLength.value), z.string().nullable())
    .refine(
      (all) => Object.keys(all).length <= limits.draftFiles.value,
      `may hold at most ${limits.draftFiles.value} files`,
    ),
});
export type ChangeApp = z.infer<typeof changeAppBody>;

/** What an app can begin with. */
const appTemplate = z.strictObject({
  /** `frontend`: a page; `backend`: a program on the server; `both`. */
  kind: z.enum(['frontend', 'backend', 'both']),
  about: z.string(),
  /** All of it but what the platform adds. */
  files: z.record(z.string(), z.string()),
});
export type AppTemplate = z.infer<typeof appTemplate>;

export const madeSourceQuery = z.strictObject({
  /** One file, from `offset` on. Default: all, as far as they fit. */
  path: z.string().min(1).max(packages.limits.packagePathLength.value).optional(),
  /** Characters of the file that are left out. */
  offset: z.coerce.number().int().min(0).max(MOST_COUNTED).default(0),
});

const madeFile = z.strictObject({
  path: z.string(),
  bytes: z.int().nonnegative(),
  /** `null` where it did not fit, and for what is no text: ask for the file by its path. */
  text: z.string().nullable(),
  /** Where to go on, in characters; `null` at the end. */
  next: z.int().nonnegative().nullable(),
});

export const madeSource = z.strictObject({
  appId,
  version,
  /** `waiting` for its person; `accepted` by them. */
  state: z.enum(['waiting', 'accepted']),
  /** The manifest first. Without what the platform adds. */
  files: z.array(madeFile),
});
export type MadeSource = z.infer<typeof madeSource>;

export const madeLogQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(limits.madeAppLogLines.value).default(100),
});

const text = (most: number) => z.string().max(most);

/** As the page of the app says it: foreign text. */
export const pageErrorReport = z.strictObject({
  message: text(2_000),
  /** The file of the package, and where in it; `null` where the browser does not say. */
  file: text(300).nullable(),
  line: z.int().min(0).max(MOST_COUNTED).nullable(),
  column: z.int().min(0).max(MOST_COUNTED).nullable(),
  stack: text(4_000).nullable(),
});
export type PageErrorReport = z.infer<typeof pageErrorReport>;

export const pageError = pageErrorReport.extend({
  /** When it last happened. */
  at: timestamp,
  /** Of the app, whose page it was. */
  version,
  times: z.int().positive(),
});
export type PageError = z.infer<typeof pageError>;

/** SHA-256 of the package that the files make, hexadecimal. */
const hash = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in lower-case hexadecimal');

export const madeDraft = z.strictObject({ id: draftId, appId, version, hash, expiresAt: timestamp });
export type MadeDraft = z.infer<typeof madeDraft>;

export const draft = madeDraft.extend({
  name: z.string(),
  summary: z.string(),
  /** The app that made it. */
  madeBy: appId,
  /** The version that it would take the place of; `null` for an app that is not installed. */
  installed: version.nullable(),
  createdAt: timestamp,
});
export type Draft = z.infer<typeof draft>;

const sourceFile = z.strictObject({
  path: z.string(),
  bytes: z.int().nonnegative(),
  /** `null` for what is no text. */
  text: z.string().nullable(),
  /** Exactly what the platform adds under this name. */
  ofPlatform: z.boolean(),
});
export type SourceFile = z.infer<typeof sourceFile>;

/** What a person has to see of it before they decide. */
export const draftReview = draft.extend({
  ...catalogDetail.pick({ permissions: true, resources: true, backend: true, publicRoutes: true, secretSlots: true })
    .shape,
  hasFrontend: z.boolean(),
  hasWorkload: z.boolean(),
  /** What is new in this version, in plain text. */
  changes: z.string().nullable(),
  /** Every file of the package, by name. */
  files: z.array(sourceFile),
  /** The version before: the installed one, otherwise the newest; `null` for a new app. */
  former: z.strictObject({ version, files: z.array(sourceFile) }).nullable(),
});
export type DraftReview = z.infer<typeof draftReview>;

export const acceptDraftBody = z.strictObject({
  /** Of the draft that was reviewed. */
  hash,
  /**
   * Default: for a new app what it requests except what is critical, for a new version what is held. A new version holds no more than
   * the one before, and without an installed one it needs this.
   */
  permissions: z.array(grant).max(grants.limits.grantsPerInstallation.value).optional(),
});
export type AcceptDraft = z.input<typeof acceptDraftBody>;

const ofDraft = z.strictObject({ id: draftId });
const ofApp = z.strictObject({ appId });

/** What makes apps also sees what became of those that it made itself. */
const makes = {
  callers: ['frontend', 'installation'],
  grant: { id: 'apps.create', resource: '*' },
} as const;

const routes = {
  'services.apps.create': {
    method: 'POST',
    path: '/v1/services/apps',
    summary: 'Hand in an app for the person; it is nothing until they accept it',
    ...makes,
    body: json(makeAppBody, limits.draftBody.value),
    answers: { 201: z.strictObject({ draft: madeDraft }) },
    refuses: ['not_authorized', 'version_exists', 'disk_quota', 'concurrency_limited'],
    rate: 'makeApp',
    fillsDatabase: true,
  },
  'services.apps.change': {
    method: 'PATCH',
    path: '/v1/services/apps/:appId',
    summary: 'Hand in a version of an app that this app made, as what differs from the one before',
    ...makes,
    params: ofApp,
    body: json(changeAppBody, limits.draftBody.value),
    answers: { 201: z.strictObject({ draft: madeDraft }) },
    refuses: ['not_found', 'not_authorized', 'version_exists', 'disk_quota', 'concurrency_limited'],
    rate: 'makeApp',
    fillsDatabase: true,
  },
  'services.apps.templates': {
    method: 'GET',
    path: '/v1/services/apps/templates',
    summary: 'What an app can begin with: the templates of `platform init`',
    ...makes,
    answers: { 200: z.strictObject({ templates: z.array(appTemplate) }) },
    rate: 'service',
  },
  'services.apps.source': {
    method: 'GET',
    path: '/v1/services/apps/:appId/source',
    summary: 'The files of an app that this app made, as it handed them in last',
    ...makes,
    params: ofApp,
    query: madeSourceQuery,
    answers: { 200: madeSource },
    refuses: ['not_found', 'not_authorized', 'concurrency_limited'],
    rate: 'service',
  },
  'services.apps.log': {
    method: 'GET',
    path: '/v1/services/apps/:appId/log',
    summary: 'The last lines that the backend of an app wrote that this app made, newest first',
    ...makes,
    params: ofApp,
    query: madeLogQuery,
    answers: { 200: z.strictObject({ appId, lines: z.array(logEntry) }) },
    refuses: ['not_found', 'not_authorized', 'workload_unavailable'],
    rate: 'service',
  },
  'services.apps.errors': {
    method: 'GET',
    path: '/v1/services/apps/:appId/errors',
    summary: 'The last errors in the pages of an app that this app made, newest first',
    ...makes,
    params: ofApp,
    answers: { 200: z.strictObject({ appId, errors: z.array(pageError) }) },
    refuses: ['not_found', 'not_authorized'],
    rate: 'service',
  },
  'apps.pageErrors.report': {
    method: 'POST',
    path: '/v1/apps/:appId/page-errors',
    summary: 'What went wrong in a page of an app; kept where an app made it',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'what a page says of itself' },
    params: ofApp,
    body: json(pageErrorReport, limits.pageErrorReport.value),
    answers: { 200: z.strictObject({ kept: z.boolean() }) },
    rate: 'session',
    fillsDatabase: true,
  },
  'account.drafts.list': {
    method: 'GET',
    path: '/v1/account/drafts',
    summary: 'Apps that apps made and that wait for the person, newest first',
    callers: ['session'],
    query: pageQuery,
    answers: { 200: page(draft) },
    rate: 'session',
  },
  'account.drafts.read': {
    method: 'GET',
    path: '/v1/account/drafts/:id',
    summary: 'What an app that an app made asks for, its source, and that of the version before',
    callers: ['session'],
    params: ofDraft,
    answers: { 200: draftReview },
    rate: 'session',
  },
  'account.drafts.preview': {
    method: 'POST',
    path: '/v1/account/drafts/:id/preview',
    summary:
      'Serve the pages of an app that waits for the person for a while, at an origin of their own and with nothing else',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'shows what is in the review, without any permission' },
    params: ofDraft,
    body: json(z.strictObject({ hash })),
    answers: { 200: z.strictObject({ origin: z.string(), url: z.string(), expiresAt: timestamp }) },
    refuses: ['not_found', 'proposal_conflict'],
    rate: 'session',
  },
  'account.drafts.accept': {
    method: 'POST',
    path: '/v1/account/drafts/:id/accept',
    summary: 'Install an app that an app made, or change to a new version of it',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'as an installation: an app has its own grants, and no more than were reviewed' },
    params: ofDraft,
    body: json(acceptDraftBody),
    answers: { 200: z.strictObject({ appId, version }) },
    refuses: [
      'not_found',
      'proposal_conflict',
      'not_authorized',
      'version_exists',
      'grants_exceed_request',
      'account_share',
      'disk_quota',
      'placement_not_allowed',
    ],
    rate: 'session',
  },
  'account.drafts.decline': {
    method: 'POST',
    path: '/v1/account/drafts/:id/decline',
    summary: 'Throw away an app that an app made',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'takes what was never installed' },
    params: ofDraft,
    body: json(emptyBody.optional()),
    answers: { 204: null },
    refuses: ['proposal_conflict'],
    rate: 'session',
  },
} as const satisfies Routes;

export const drafts = { limits, routes } as const;

declare module '../bridge-calls.ts' {
  interface BridgeCalls {
    /**
     * Grant `apps.create`; only for the app in front, about an app that it made itself (`POST /v1/services/apps`). The shell shows its own
     * review, with the source; `accepted` is false when the person declined or closed it.
     */
    'apps.create': { params: { readonly draftId: string }; result: { readonly accepted: boolean }; asks: true };
  }
}
