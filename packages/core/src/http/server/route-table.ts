// Puts every route of the contract's table behind the same checks, in the same order: caller, origin, rate, grant,
// parameters, body. A handler is reached only by what its table entry allows.
import {
  clientNetwork,
  fieldErrors,
  type InstallationId,
  notValid,
  type PermissionId,
  permissions,
  RefusalError,
  type RouteId,
  type RouteSpec,
  refuse,
  routes,
  type SystemRole,
  sufficientGrants,
} from '@platform/contract';
import { linkPeer } from '@platform/link';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type * as z from 'zod';
import type { CoreConfig } from '../../config/config.ts';
import { nowOnBehalfOf, onBehalfOf } from '../../database/fair-pool.ts';
import { allows, resourcesOf } from '../../grants/grant-coverage.ts';
import type { InstallationIdentity, WantedGrant } from '../../installations/face.ts';
import { BodyPlaces, type BodySender } from '../bodies/body-places.ts';
import { type BodyReaders, readRequestBody } from '../bodies/request-body.ts';
import { refuseUnstorable } from '../bodies/storable-values.ts';
import type { Caller } from '../caller.ts';
import { whenCallerLeaves } from '../caller-left.ts';
import type { Authenticator } from '../callers/authenticate.ts';
import type { Callers } from '../callers/callers.ts';
import type { KnownBrowsers } from '../callers/known-browsers.ts';
import { checkCallerOverLink } from '../callers/link-routes.ts';
import { checkOrigin } from '../callers/origins.ts';
import type { Handlers, RouteResult } from '../handlers.ts';
import type { Pacing } from '../rates/pacing.ts';
import type { TakeRate } from '../rates/rate-limit.ts';
import { pathMatches } from './path-matches.ts';

export interface RouteTableOptions extends Omit<BodyReaders, 'places'> {
  readonly config: CoreConfig;
  readonly authenticator: Authenticator;
  readonly callers: Callers;
  readonly handlers: Handlers;
  readonly takeRate: TakeRate;
  readonly browsers: Pick<KnownBrowsers, 'subjectOf'>;
  /** The refusal of what an installation was not granted. */
  readonly missingGrant: (caller: InstallationIdentity, wanted: WantedGrant) => Promise<RefusalError>;
  readonly bearsRole: (installationId: InstallationId, role: SystemRole) => Promise<boolean>;
  /** Throws RefusalError `unavailable` while nothing may be added. Default: something always may. */
  readonly requireRoom?: () => void;
  readonly pacing: Pacing;
  /** After a caller changed something whose scheme says so: waits until the local cache is invalidated. */
  readonly settled: () => Promise<void>;
}

/** A handler once its types were checked against the table; the table is walked at run time. */
export type AnyHandler = (call: object) => Promise<RouteResult<RouteId>>;

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

export function registerRoutes(app: FastifyInstance, given: RouteTableOptions): void {
  const options = { ...given, places: new BodyPlaces() };
  const byPath = new Map<string, RouteSpec[]>();
  for (const [id, spec] of Object.entries(routes) as [RouteId, RouteSpec][]) {
    const handler = options.handlers[id] as unknown as AnyHandler;
    app.route({
      method: [...methodsOf(spec)],
      url: spec.path,
      handler: (request, reply) =>
        onBehalfOf(clientNetwork(request.ip), () => answer(request, reply, { id, handler }, options)),
    });
    byPath.set(spec.path, [...(byPath.get(spec.path) ?? []), spec]);
  }
  for (const [path, specs] of byPath) refuseOtherMethods(app, path, specs);
}

/** `HEAD` rides on `GET`. */
function methodsOf({ method }: RouteSpec): readonly string[] {
  return method === 'GET' ? ['GET', 'HEAD'] : [method];
}

/** Of bytes that are there already. */
const WHOLE = /^(?:image\/|application\/octet-stream|\*\/\*)/;

/** The media type of a route whose answer goes on for as long as its caller reads; `HEAD` must not begin one. */
function streamType({ answers }: RouteSpec): string | null {
  const answer = answers[200];
  return typeof answer === 'string' && !WHOLE.test(answer) ? answer : null;
}

function refuseOtherMethods(app: FastifyInstance, path: string, specs: readonly RouteSpec[]): void {
  const offered = specs.flatMap(methodsOf);
  app.route({
    method: METHODS.filter((method) => !offered.includes(method)),
    url: path,
    handler: () => {
      throw refuse('method_not_allowed', `This route offers ${offered.join(', ')}.`, { allow: offered });
    },
  });
}

/** The routes a browser at an app's origin may call at all, for CORS preflights. */
export function crossOriginMethods(path: string): string[] {
  return (Object.values(routes) as RouteSpec[])
    .filter((spec) => (spec.callers.includes('frontend') || spec.origin === 'app') && pathMatches(spec.path, path))
    .map(({ method }) => method);
}

type Options = RouteTableOptions & Pick<BodyReaders, 'places'>;

async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  { id, handler }: { readonly id: RouteId; readonly handler: AnyHandler },
  options: Options,
): Promise<FastifyReply> {
  const spec: RouteSpec = routes[id];
  const first = await admit(request, spec, options);
  const known = options.callers.subjectOf(first);
  const subject = known ?? clientNetwork(request.ip);
  options.pacing.countFor(subject, request);
  nowOnBehalfOf(subject);
  if (spec.fillsDatabase === true) options.requireRoom?.();
  const browser = known === null ? options.browsers.subjectOf(request.raw) : null;
  const turn = takeTurn(spec, { subject, browser }, options);
  if (turn !== undefined) await turn;
  else if (spec.rate === 'none' && first.kind === 'anonymous') await options.pacing.anonymous(request);
  const params = parse(spec.params, request.params, 'path');
  const query = parse(spec.query, request.query, 'query');
  const stream = request.method === 'HEAD' ? streamType(spec) : null;
  if (stream !== null) return reply.type(stream).header('cache-control', 'no-store').send();
  if (request.headers.expect !== undefined) reply.raw.writeContinue();
  const { value: body, close } = await readRequestBody(
    {
      request,
      reply,
      from: {
        sender: known === null ? { kind: 'anonymous', name: subject, browser } : knownSender(first, known),
        account: 'accountKey' in first ? first.accountKey : subject,
      },
    },
    id,
    options,
  );
  try {
    // What was revoked while the body was on its way is revoked for this request too.
    const caller = body === undefined ? first : await admit(request, spec, options);
    await checkBodyResource({ spec, caller, body }, options);
    const result = await handler({
      caller,
      stillAllowed: () => admit(request, spec, options),
      params,
      query,
      body,
      get left() {
        return whenCallerLeaves(reply.raw);
      },
      origin: request.headers.origin,
      request,
      reply,
    });
    const { settles = false } = options.callers.schemeOf(caller) ?? {};
    if (settles && spec.method !== 'GET') await options.settled();
    if ('streamed' in result) return reply;
    reply.code(result.status);
    if (!('body' in result)) return reply.send();
    return reply.header('cache-control', 'no-store').send(result.body);
  } finally {
    await close();
  }
}

function knownSender(caller: Caller, name: string): BodySender {
  return { kind: 'known', name, appOf: 'installationId' in caller ? caller.accountKey : null };
}

/** What comes from a browser that has signed in before is refused once its own bucket and that of its network are empty. */
function takeTurn(
  spec: RouteSpec,
  { subject, browser }: { readonly subject: string; readonly browser: string | null },
  { takeRate }: Options,
): Promise<void> | undefined {
  if (browser === null || spec.rate !== 'authentication') return takeRate(spec.rate, subject);
  return takeRate(spec.rate, browser)?.catch((error: unknown) => {
    if (!(error instanceof RefusalError)) throw error;
    return takeRate(spec.rate, subject);
  });
}

async function admit(request: FastifyRequest, spec: RouteSpec, options: RouteTableOptions): Promise<Caller> {
  // Anonymous routes ignore whatever credential comes along: a stale cookie must not keep anybody from signing in.
  const caller: Caller = spec.callers.includes('anonymous')
    ? { kind: 'anonymous' }
    : await options.authenticator.authenticate(request.raw, clientNetwork(request.ip));
  if (!spec.callers.includes(caller.kind)) {
    if (caller.kind === 'anonymous') throw refuse('unauthenticated');
    throw refuse('not_authorized', 'This credential is not for this route.');
  }
  const scheme = options.callers.schemeOf(caller);
  const peer = linkPeer(request.raw.socket);
  if (peer !== undefined) checkCallerOverLink(peer, caller, scheme);
  checkOrigin({ request: request.raw, spec, caller, scheme, config: options.config });
  const refusal = options.callers.refusalOf(caller, spec);
  if (refusal !== null) throw refusal;
  await checkAuthority(caller, spec, options);
  return caller;
}

/** Whether what the caller was granted is enough for the route. @throws RefusalError `grant_missing`, `not_authorized` */
export async function checkAuthority(caller: Caller, spec: RouteSpec, options: RouteTableOptions): Promise<void> {
  if (spec.grant !== undefined) {
    const { id, resource } = spec.grant;
    const grants = 'grants' in caller ? caller.grants : [];
    const wanted = literal(resource);
    const holds = (one: PermissionId) =>
      wanted === null ? resourcesOf(grants, one).length > 0 : allows(grants, one, wanted);
    if (!sufficientGrants(spec.grant).some(holds)) throw await missingGrant(caller, { id, resource: wanted }, options);
  }
  if (spec.systemRole !== undefined) await checkRole(caller, spec.systemRole, options);
}

/** @throws RefusalError `not_authorized` */
async function checkRole(caller: Caller, role: SystemRole, { bearsRole }: RouteTableOptions): Promise<void> {
  if ('installationId' in caller && (await bearsRole(caller.installationId, role))) return;
  throw refuse('not_authorized', `Only the app of the platform that bears the system role ${role} may call this.`);
}

/** The one resource that the route's grant must cover; `null` if any would do, or the body names it. */
function literal(resource: NonNullable<RouteSpec['grant']>['resource']): string | null {
  return typeof resource === 'string' && resource !== 'any' ? resource : null;
}

/** @throws RefusalError `grant_missing` */
export async function checkBodyResource(
  { spec, caller, body }: { readonly spec: RouteSpec; readonly caller: Caller; readonly body: unknown },
  options: RouteTableOptions,
): Promise<void> {
  if (spec.grant === undefined || typeof spec.grant.resource === 'string') return;
  const value = (body as Record<string, unknown>)[spec.grant.resource.body];
  const grants = 'grants' in caller ? caller.grants : [];
  if (typeof value !== 'string') throw new Error(`${spec.path} has no member ${spec.grant.resource.body}.`);
  const { id } = spec.grant;
  if (sufficientGrants(spec.grant).some((one) => allows(grants, one, value))) return;
  const what = `${permissions[id].plain} on the ${spec.grant.resource.body} ${JSON.stringify(value)}`;
  throw await missingGrant(caller, { id, resource: value, what }, options);
}

async function missingGrant(caller: Caller, wanted: WantedGrant, options: RouteTableOptions): Promise<RefusalError> {
  if (!('installationId' in caller)) return refuse('grant_missing');
  nowOnBehalfOf(caller.installationId);
  return options.missingGrant(caller, wanted);
}

export function parse(schema: z.ZodType | undefined, value: unknown, where: 'path' | 'query'): unknown {
  if (schema === undefined) {
    if (where === 'query' && Object.keys(value as object).length > 0)
      throw refuse('invalid_request', 'This route takes no query parameters.');
    return undefined;
  }
  refuseUnstorable(value, where);
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw notValid(`The ${where}`, fieldErrors(result.error));
}
