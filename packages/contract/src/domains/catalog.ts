// The catalog: what is published (contract 3).
import * as z from 'zod';
import { type Errors, KiB, type Limits, type Routes } from '../domain.ts';
import { processorKinds } from '../executable.ts';
import { appId, timestamp, version } from '../primitives.ts';
import { ofApp, page, pageQuery } from './common.ts';
import { backendResources, requestedGrant } from './grants.ts';
import { declaredSlot } from './outbound.ts';
import { manifest, packages, visibilities, workloadRuntime } from './packages.ts';

const limits = {
  publishesPerAccount: { value: 2, unit: 'items', meaning: 'concurrent publications by one account' },
  publishes: {
    value: 8,
    unit: 'items',
    meaning:
      'concurrent publications by all accounts; one more takes the place of another as docs/decisions/packages.md says',
  },
  appsPerAccount: { value: 200, unit: 'items', meaning: 'apps that one account ever published' },
  versionsPerApp: { value: 1_000, unit: 'items', meaning: 'versions of one app, deleted ones included' },
  formerVersionDays: {
    value: 30,
    unit: 'days',
    meaning: 'time after an update in which the version before it cannot be deleted, so that people can go back to it',
  },
  publishFairRate: {
    value: 256 * KiB,
    unit: 'bytes',
    meaning: 'average rate of an upload, per second, below which it gives its place to an account that has none',
  },
} as const satisfies Limits;

const errors = {
  version_exists: {
    status: 409,
    title: 'This version is already published.',
    help: 'Published versions are immutable, even deleted ones. Raise the version and publish again.',
  },
  version_in_use: {
    status: 409,
    title: 'This version is in use.',
    help: `A version can be deleted once nobody has it installed, and ${limits.formerVersionDays.value} days after the last person updated from it, who can go back until then. Publish a newer one and wait until everybody has moved to it.`,
  },
} as const satisfies Errors;

export const catalogEntry = z.strictObject({
  appId,
  name: z.string(),
  summary: z.string(),
  version,
  categories: z.array(z.string()),
  /** Account name of the publisher; `platform` for the apps that come with it. */
  publisher: z.string(),
  /** Path on the shell's origin, of this version; `null` when the package has none. */
  icon: z.string().nullable(),
  hasFrontend: z.boolean(),
  hasWorkload: z.boolean(),
  /** What its backend asks for; `null` without one. */
  resources: backendResources.nullable(),
  /** Resources of `network.connect` that it asks for: the outside origins it connects to. */
  connects: z.array(z.string()),
  /** Of the version with all that it asks for, 5 (safest) to 1: docs/security-rating.md. */
  rating: z.literal([1, 2, 3, 4, 5]),
  /** Of the app; `private` also for a version that is private itself. */
  visibility: z.enum(visibilities),
  /** The account of this session published it. */
  own: z.boolean(),
  publishedAt: timestamp,
});
export type CatalogEntry = z.infer<typeof catalogEntry>;

export const catalogDetail = catalogEntry.extend({
  permissions: z.array(requestedGrant),
  /** What its backend is, which not every machine can run; `null` without one. */
  backend: z.strictObject({ runtime: workloadRuntime, processor: z.enum(processorKinds).nullable() }).nullable(),
  /** What is new in this version, in plain text. */
  changes: z.string().nullable(),
  /** Paths on the shell's origin. */
  screenshots: z.array(z.string()),
  /** Bytes of the package. */
  size: z.int(),
  /** Where it wants to send a secret of its owner's. */
  secretSlots: z.array(declaredSlot),
  /** What anyone on the internet may request of it once it has all it asks for: declared, and `endpoints.public` requested. */
  publicRoutes: z.array(z.string()),
  /** How the account knows the app, by the version that it has installed; `null` where it has none. */
  installed: z
    .strictObject({
      version,
      name: z.string(),
      icon: z.string().nullable(),
      /** Whether its picture is that of the version shown. */
      sameIcon: z.boolean(),
    })
    .nullable(),
  /** The highest first, of those that were published last; private ones for their publisher alone. */
  versions: z.array(z.strictObject({ version, hash: z.string(), size: z.int(), publishedAt: timestamp })),
});
export type CatalogDetail = z.infer<typeof catalogDetail>;

export const publishAnswer = z.strictObject({
  appId,
  version,
  /** SHA-256 of the uploaded bytes, hexadecimal. */
  hash: z.string(),
  size: z.int(),
  manifest,
});
export type PublishAnswer = z.infer<typeof publishAnswer>;

const routes = {
  'catalog.list': {
    method: 'GET',
    path: '/v1/catalog',
    summary: 'Published apps',
    callers: ['session'],
    query: pageQuery,
    answers: { 200: page(catalogEntry) },
    rate: 'session',
  },
  'catalog.read': {
    method: 'GET',
    path: '/v1/catalog/:appId',
    summary: 'One published app, in its newest version or the one named',
    callers: ['session'],
    params: ofApp,
    query: z.strictObject({ version: version.optional() }),
    answers: { 200: catalogDetail },
    rate: 'session',
  },
  'catalog.icon': {
    method: 'GET',
    path: '/v1/catalog/:appId/icon',
    summary: 'Icon of the version that the account has installed, otherwise of the newest',
    callers: ['session'],
    params: ofApp,
    answers: { 200: 'image/*' },
    rate: 'session',
  },
  'catalog.versionIcon': {
    method: 'GET',
    path: '/v1/catalog/:appId/versions/:version/icon',
    summary: 'Icon of a version',
    callers: ['session'],
    params: z.strictObject({ appId, version }),
    answers: { 200: 'image/*' },
    rate: 'session',
  },
  'catalog.screenshot': {
    method: 'GET',
    path: '/v1/catalog/:appId/versions/:version/screenshots/:number',
    summary: 'Screenshot of a version, from 1',
    callers: ['session'],
    params: z.strictObject({ appId, version, number: z.string().regex(/^[1-9]$/, 'must be a number from 1') }),
    answers: { 200: 'image/*' },
    rate: 'session',
  },
  'catalog.publish': {
    method: 'PUT',
    path: '/v1/catalog/:appId/versions/:version',
    summary: 'Publish a version',
    callers: ['session', 'author'],
    origin: 'shell',
    confirms: { nothing: 'changes no account: people review the version before they install it or update to it' },
    params: z.strictObject({ appId, version }),
    body: { mediaType: 'application/gzip', limit: packages.limits.packagePacked.value },
    answers: { 201: publishAnswer },
    refuses: ['version_exists', 'disk_quota'],
    rate: 'session',
  },
  'catalog.withdraw': {
    method: 'DELETE',
    path: '/v1/catalog/:appId/versions/:version',
    summary: 'Delete a version that nobody uses',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'a version that somebody installed stays' },
    params: z.strictObject({ appId, version }),
    answers: { 204: null },
    refuses: ['version_in_use'],
    rate: 'session',
  },
} as const satisfies Routes;

export const catalog = { limits, errors, routes } as const;
