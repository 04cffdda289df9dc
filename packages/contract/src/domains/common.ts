// What several domains share: the general limits and refusals, and the shapes that many routes have.
import * as z from 'zod';
import { type Errors, KiB, type Limits, type Metrics } from '../domain.ts';
import { appId, installationId } from '../primitives.ts';

const limits = {
  bodyDefault: { value: 256 * KiB, unit: 'bytes', meaning: 'request body, unless the route sets another limit' },
  bodySeconds: { value: 30, unit: 'seconds', meaning: 'time within which a JSON body must arrive' },
  unfinishedBodies: {
    value: 4,
    unit: 'items',
    meaning:
      'bodies of one account, installation, node, anonymous client address or browser that signed in before that may be arriving at the same time; one more is `concurrency_limited`',
  },
  unfinishedBodiesOfApps: {
    value: 16,
    unit: 'items',
    meaning: 'bodies of all apps of one account together that may be arriving at the same time, uploads included',
  },
  unfinishedAppBodies: {
    value: 256,
    unit: 'items',
    meaning: 'bodies of the apps of all accounts together that may be arriving at the same time',
  },
  unfinishedAnonymousBodies: {
    value: 256,
    unit: 'items',
    meaning:
      'bodies of all anonymous clients together that may be arriving at the same time, and as many of browsers that signed in before',
  },
  uploadRate: { value: 16 * KiB, unit: 'bytes', meaning: 'minimum rate of an upload, per second' },
  answerRate: {
    value: KiB,
    unit: 'bytes',
    meaning: 'minimum rate, per second over 5 minutes, at which a client takes an answer that waits for it',
  },
  webSocketIdleSeconds: {
    value: 600,
    unit: 'seconds',
    meaning: 'silence in both directions after which a WebSocket to a backend is closed',
  },
  clockTolerance: {
    value: 300,
    unit: 'seconds',
    meaning: 'by how much clocks may differ, and one may step, before everything that deletes or ends by age is held',
  },
  clockLongestOff: {
    value: 30 * 86_400,
    unit: 'seconds',
    meaning:
      'how far ahead of the last time on record a clock is believed after its machine was off, except for deleting and ending by age',
  },
  jsonDepth: { value: 32, unit: 'items', meaning: 'nesting depth of a JSON body' },
  pageDefault: { value: 50, unit: 'items', meaning: 'default size of a list page' },
  pageMaximum: { value: 200, unit: 'items', meaning: 'maximum size of a list page' },
  appName: { value: 60, unit: 'characters', meaning: 'name of an app' },
  eventStreams: { value: 16, unit: 'items', meaning: 'concurrent live event streams of one account or installation' },
  appEventStreams: {
    value: 64,
    unit: 'items',
    meaning: 'concurrent live event streams of all apps of one account together',
  },
  eventStreamSeconds: {
    value: 3_600,
    unit: 'seconds',
    meaning: 'lifetime of one live event stream; clients then resume it',
  },
  authenticationRate: { value: 300, unit: 'per minute', meaning: 'authentication requests from one client address' },
  passkeyRate: { value: 300, unit: 'per minute', meaning: 'requests of one account that add a passkey' },
  exchangeRate: {
    value: 1_200,
    unit: 'per minute',
    meaning: 'exchanges from one client address of launch capabilities that are unknown, used or not its own',
  },
  joinRate: {
    value: 300,
    unit: 'per minute',
    meaning: 'requests from one client address of nodes and Ingresses that join or renew their credential',
  },
  unknownLookups: {
    value: 1_200,
    unit: 'per minute',
    meaning: 'requests of one client address that name an unknown credential, and as many for unknown app hosts',
  },
  sessionRate: { value: 6_000, unit: 'per minute', meaning: 'requests of all sessions of one account' },
  serviceRate: { value: 1_200, unit: 'per minute', meaning: 'other service requests of one installation' },
} as const satisfies Limits;

const errors = {
  invalid_request: {
    status: 400,
    title: 'The request is not valid.',
    help: 'A member is missing, unknown or invalid. `errors` lists each with its path.',
  },
  invalid_cursor: {
    status: 400,
    title: 'The cursor does not belong to this list.',
    help: 'Use `nextCursor` of the same list with the same filters, or start again without a cursor.',
  },
  invalid_path: {
    status: 400,
    title: 'The path is not in a safe form.',
    help: 'Paths must not contain encoded slashes, dot segments, backslashes, control bytes or broken percent-encoding.',
  },
  unauthenticated: {
    status: 401,
    title: 'Sign in, or present a valid credential.',
    help: 'The credential is missing, unknown or expired. Sign in again; a workload sends `Authorization: Bearer` with its PLATFORM_GATEWAY_TOKEN.',
  },
  origin_not_allowed: {
    status: 403,
    title: 'Requests from this origin are not allowed here.',
    help: 'Open the platform at its configured address (PLATFORM_OS_ORIGIN). A frontend may use its capability only from its own origin.',
  },
  grant_missing: {
    status: 403,
    title: 'The app does not have this permission.',
    help: 'Request the permission in the manifest. The account owner can then allow it in Settings → Apps.',
  },
  not_authorized: {
    status: 403,
    title: 'This is not allowed for this caller.',
    help: 'For example, publishing a version of an app that another account owns.',
  },
  not_found: {
    status: 404,
    title: 'Not found.',
    help: 'The resource does not exist or belongs to another account or installation. The answer is the same for both.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed.',
    help: 'The `Allow` header lists the allowed methods.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'This route does not accept this media type.',
    help: 'Send `Content-Type: application/json` (packages: `application/gzip`).',
  },
  payload_too_large: {
    status: 413,
    title: 'The body is too large.',
    help: 'docs/limits.md lists the limit of every route.',
  },
  head_too_large: {
    status: 431,
    title: 'The head of the request is too large.',
    help: 'Request line and header fields may have 16 KiB in 100 fields, requests from the internet PLATFORM_INGRESS_HEADER_KIB. A browser that sends more mostly holds too many cookies: the answer makes it delete the cookies of the site (`Clear-Site-Data`), so reload the page and sign in again.',
  },
  unknown_host: {
    status: 421,
    title: 'This host name is not served here.',
    help: 'Use an address of the platform; the operator sets PLATFORM_OS_ORIGIN, PLATFORM_APPS_DOMAIN and PLATFORM_INGRESS_DOMAIN. The internet address of an app ends when it is renewed or the app is uninstalled.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests.',
    help: 'Wait the number of seconds in `Retry-After`.',
  },
  concurrency_limited: {
    status: 429,
    title: 'Too many concurrent operations.',
    help: 'Wait for one to finish, then try again.',
  },
  upstream_failed: {
    status: 502,
    title: 'The backend or a service behind the Gateway failed while answering.',
    help: 'It closed the connection or sent an invalid response. See the app’s log.',
  },
  upstream_timeout: {
    status: 504,
    title: 'The backend or a service behind the Gateway did not answer in time.',
    help: 'Try again. If it persists, see the app’s log.',
  },
  unavailable: {
    status: 503,
    title: 'The platform is temporarily unavailable.',
    help: 'It is starting or stopping, cannot reach its database, or its disk is full, which `detail` says. Try again shortly.',
  },
  internal_error: {
    status: 500,
    title: 'The platform failed on this request.',
    help: 'A bug. Try again; if it persists, the operator can find the cause in the log by `requestId`.',
  },
} as const satisfies Errors;

const metrics = {
  platform_core_requests_total: {
    type: 'counter',
    labels: ['route', 'status'],
    meaning: 'API requests answered, by route pattern.',
  },
  platform_core_request_seconds: {
    type: 'histogram',
    labels: ['route'],
    meaning: 'Time to answer an API request, without live streams. A node’s long poll lasts up to 25 s.',
  },
  platform_core_database_connections: {
    type: 'gauge',
    labels: ['state'],
    meaning: 'PostgreSQL connections: idle, in use, and requests waiting for one.',
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

/** One page of a list: `items`, and the cursor of the next page or `null`. */
export function page<Item extends z.ZodType>(item: Item) {
  return z.strictObject({ items: z.array(item), nextCursor: z.string().nullable() });
}

/** The path of a route about one app. */
export const ofApp = z.strictObject({ appId });

/** The path of a node's route about one installation. */
export const ofInstallation = z.strictObject({ id: installationId });
