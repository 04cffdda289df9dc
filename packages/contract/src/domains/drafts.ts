// Apps that apps make (contract 4g): an app hands in the files of another, and its person accepts them or not.
import * as z from 'zod';
import { type Limits, MiB, type Routes } from '../domain.ts';
import { appId, draftId, timestamp, version } from '../primitives.ts';
import { catalogDetail } from './catalog.ts';
import { emptyBody, json, page, pageQuery } from './common.ts';
import { grant, grants } from './grants.ts';
import { packages } from './packages.ts';

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

const routes = {
  'services.apps.create': {
    method: 'POST',
    path: '/v1/services/apps',
    summary: 'Hand in an app for the person; it is nothing until they accept it',
    callers: ['frontend', 'installation'],
    grant: { id: 'apps.create', resource: '*' },
    body: json(makeAppBody, limits.draftBody.value),
    answers: { 201: z.strictObject({ draft: madeDraft }) },
    refuses: ['not_authorized', 'version_exists', 'disk_quota', 'concurrency_limited'],
    rate: 'makeApp',
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
