// What several domains share: the general limits and refusals, and the shapes that many routes have.
import * as z from 'zod';
import { type Errors, KiB, type Limits, type Metrics } from '../domain.ts';
import { appId, installationId } from '../primitives.ts';

const limits = {
  bodyDefault: { value: 256 * KiB, unit: 'bytes', meaning: 'request body, where the route sets no other limit' },
  bodySeconds: { value: 30, unit: 'seconds', meaning: 'time in which a JSON body must arrive' },
  uploadRate: { value: 1_024, unit: 'bytes', meaning: 'an upload arrives at least as fast, each second' },
  jsonDepth: { value: 32, unit: 'items', meaning: 'nesting of a JSON body' },
  pageDefault: { value: 50, unit: 'items', meaning: 'list page when `limit` is absent' },
  pageMaximum: { value: 200, unit: 'items', meaning: 'list page at most' },
  appName: { value: 60, unit: 'characters', meaning: 'name of an app' },
  eventStreams: { value: 16, unit: 'items', meaning: 'live event streams of one account or installation' },
  eventStreamSeconds: { value: 3_600, unit: 'seconds', meaning: 'life of one live event stream; clients resume it' },
  authenticationRate: { value: 300, unit: 'per minute', meaning: 'authentication requests from one client address' },
  sessionRate: { value: 6_000, unit: 'per minute', meaning: 'requests of one session' },
  serviceRate: { value: 1_200, unit: 'per minute', meaning: 'other service requests of one installation' },
} as const satisfies Limits;

const errors = {
  invalid_request: {
    status: 400,
    title: 'The request is not valid.',
    help: 'A member is missing, unknown or of the wrong type; `errors` lists each with its path. Correct the request.',
  },
  invalid_cursor: {
    status: 400,
    title: 'The cursor does not belong to this list.',
    help: 'Use `nextCursor` of the same list with the same filters, or start again without a cursor.',
  },
  invalid_path: {
    status: 400,
    title: 'The path is not in a safe form.',
    help: 'Encoded slashes, dot segments, backslashes, control bytes and broken percent-encoding are refused. Send the plain path.',
  },
  unauthenticated: {
    status: 401,
    title: 'Sign in, or present a valid credential.',
    help: 'No credential was sent, or it is unknown or ended. Sign in again; a workload sends `Authorization: Bearer` with its PLATFORM_GATEWAY_TOKEN.',
  },
  origin_not_allowed: {
    status: 403,
    title: 'Requests from this origin are not allowed here.',
    help: 'Open the platform at its configured address (PLATFORM_OS_ORIGIN); a frontend may only use its own capability from its own origin.',
  },
  grant_missing: {
    status: 403,
    title: 'The installation has no grant for this.',
    help: 'Request the permission in the manifest; the account owner grants it in Settings.',
  },
  not_authorized: {
    status: 403,
    title: 'This is not allowed for this caller.',
    help: 'For example: publishing a version of an app that another account owns.',
  },
  not_found: {
    status: 404,
    title: 'There is nothing here.',
    help: 'It does not exist, or it belongs to another account or installation; the answer is the same.',
  },
  method_not_allowed: {
    status: 405,
    title: 'This method is not offered here.',
    help: 'The `Allow` header lists the methods of the route.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The body has a media type this route does not take.',
    help: 'Send `Content-Type: application/json` (packages: `application/gzip`).',
  },
  payload_too_large: {
    status: 413,
    title: 'The body is too large.',
    help: 'docs/limits.md lists the limit of every route.',
  },
  unknown_host: {
    status: 421,
    title: 'This host name is not served here.',
    help: 'Use an address of the platform; the operator sets PLATFORM_OS_ORIGIN and PLATFORM_APPS_DOMAIN.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests.',
    help: 'Wait for the seconds in `Retry-After`.',
  },
  concurrency_limited: {
    status: 429,
    title: 'Too many operations at the same time.',
    help: 'Wait for one to finish, then try again.',
  },
  upstream_failed: {
    status: 502,
    title: 'The other side did not give a usable answer.',
    help: 'The workload, provider or core behind the Gateway failed; see the log of the app.',
  },
  upstream_timeout: {
    status: 504,
    title: 'The other side did not answer in time.',
    help: 'Try again; if it persists, see the log of the app.',
  },
  unavailable: {
    status: 503,
    title: 'The platform cannot answer right now.',
    help: 'It is starting, stopping or has lost its database. Try again shortly.',
  },
  internal_error: {
    status: 500,
    title: 'Something went wrong on our side.',
    help: 'A bug. The operator finds the cause in the log under the `requestId`.',
  },
} as const satisfies Errors;

const metrics = {
  platform_core_requests_total: {
    type: 'counter',
    labels: ['route', 'status'],
    meaning: 'Answered requests of the API, by the pattern of their route.',
  },
  platform_core_request_seconds: {
    type: 'histogram',
    labels: ['route'],
    meaning: 'Time to answer a request of the API. Live streams are left out; a node waits for news up to 25 s.',
  },
  platform_core_database_connections: {
    type: 'gauge',
    labels: ['state'],
    meaning: 'Connections to PostgreSQL: idle, in use, and how many requests wait for one.',
  },
  platform_core_live_streams: {
    type: 'gauge',
    labels: [],
    meaning: 'Open live streams of events and logs.',
  },
} as const satisfies Metrics;

export const common = { limits, errors, metrics } as const;

/** A JSON body of at most `limit` bytes. */
export function json<Schema extends z.ZodType>(schema: Schema, limit: number = limits.bodyDefault.value) {
  return { schema, limit };
}

/** The body of a route that needs none. */
export const emptyBody = z.strictObject({});

/** Query of every paged list. */
export const pageQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(limits.pageMaximum.value).default(limits.pageDefault.value),
  cursor: z.string().max(512).optional(),
});

export function page<Item extends z.ZodType>(item: Item) {
  return z.strictObject({ items: z.array(item), nextCursor: z.string().nullable() });
}

/** A list that is never so long that it has pages. */
export function items<Item extends z.ZodType>(item: Item) {
  return z.strictObject({ items: z.array(item), nextCursor: z.null() });
}

/** The path of a route about one app. */
export const ofApp = z.strictObject({ appId });

/** The path of a node's route about one installation. */
export const ofInstallation = z.strictObject({ id: installationId });
