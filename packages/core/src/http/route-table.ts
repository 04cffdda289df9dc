// Puts every route of the contract's table behind the same checks, in the same order: caller, origin, rate, grant,
// parameters, body. A handler is reached only by what its table entry allows.
import {
  clientNetwork,
  type InstallationId,
  type PermissionId,
  permissions,
  type RouteId,
  type RouteSpec,
  refuse,
  routes,
  type SystemRole,
  schemaWords,
} from '@platform/contract';
import { linkPeer } from '@platform/link';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type * as z from 'zod';
import type { CoreConfig } from '../config/config.ts';
import { nowOnBehalfOf, onBehalfOf } from '../database/fair-pool.ts';
import { allows, resourcesOf } from '../grants/grant-coverage.ts';
import type { Authenticator } from './authenticate.ts';
import { BodyPlaces } from './body-places.ts';
import type { Caller } from './caller.ts';
import { fieldErrors } from './field-errors.ts';
import type { Handlers, RouteResult } from './handlers.ts';
import { checkCallerOverLink } from './link-routes.ts';
import { checkOrigin } from './origins.ts';
import type { Pacing } from './pacing.ts';
import { pathMatches } from './path-matches.ts';
import { pausedRefusal } from './paused-refusal.ts';
import type { TakeRate } from './rate-limit.ts';
import { type BodyReaders, readRequestBody } from './request-body.ts';
import { refuseUnstorable } from './storable-values.ts';

export interface RouteTableOptions extends Omit<BodyReaders, 'places'> {
  readonly config: CoreConfig;
  readonly authenticator: Authenticator;
  readonly handlers: Handlers;
  readonly takeRate: TakeRate;
  readonly bearsRole: (installationId: InstallationId, role: SystemRole) => Promise<boolean>;
  /** Throws RefusalError `unavailable` while nothing may be added. Default: something always may. */
  readonly requireRoom?: () => void;
  readonly pacing: Pacing;
  /** After a session changed something: waits until the local cache is invalidated. */
  readonly settled: () => Promise<void>;
}

/** A handler once its types were checked against the table; the table is walked at run time. */
type AnyHandler = (call: object) => Promise<RouteResult<RouteId>>;

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

/** `HEAD` rides on `GET`, but for streams, which it would hold open. */
function methodsOf({ method, answers }: RouteSpec): readonly string[] {
  return method === 'GET' && typeof answers[200] !== 'string' ? ['GET', 'HEAD'] : [method];
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
  const subject = rateSubject(first, request);
  options.pacing.countFor(subject, request);
  nowOnBehalfOf(subject);
  if (spec.fillsDatabase === true) options.requireRoom?.();
  const turn = options.takeRate(spec.rate, subject);
  if (turn !== undefined) await turn;
  else if (spec.rate === 'none' && first.kind === 'anonymous') await options.pacing.anonymous(request);
  const params = parse(spec.params, request.params, 'path');
  const query = parse(spec.query, request.query, 'query');
  if (request.headers.expect !== undefined) reply.raw.writeContinue();
  const { value: body, close } = await readRequestBody({ request, reply, caller: first }, id, options);
  try {
    // What was revoked while the body was on its way is revoked for this request too.
    const caller = body === undefined ? first : await admit(request, spec, options);
    checkBodyResource(spec, caller, body);
    const result = await handler({
      caller,
      stillAllowed: () => admit(request, spec, options),
      params,
      query,
      body,
      origin: request.headers.origin,
      request,
      reply,
    });
    if (caller.kind === 'session' && spec.method !== 'GET') await options.settled();
    if ('streamed' in result) return reply;
    reply.code(result.status);
    if (!('body' in result)) return reply.send();
    return reply.header('cache-control', 'no-store').send(result.body);
  } finally {
    await close();
  }
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
  const peer = linkPeer(request.raw.socket);
  if (peer !== undefined) checkCallerOverLink(peer, caller);
  checkOrigin(request.raw, spec, caller, options.config);
  if ('paused' in caller && caller.paused && spec.whilePaused !== true) throw pausedRefusal();
  if (spec.grant !== undefined) {
    const { id, resource } = spec.grant;
    const grants = 'grants' in caller ? caller.grants : [];
    const held =
      typeof resource === 'string' && resource !== 'any'
        ? allows(grants, id, resource)
        : resourcesOf(grants, id).length > 0;
    if (!held) throw refuse('grant_missing', missingGrant(caller, id));
  }
  if (spec.systemRole !== undefined) await checkRole(caller, spec.systemRole, options);
  return caller;
}

/** @throws RefusalError `not_authorized` */
async function checkRole(caller: Caller, role: SystemRole, { bearsRole }: RouteTableOptions): Promise<void> {
  if ('installationId' in caller && (await bearsRole(caller.installationId, role))) return;
  throw refuse('not_authorized', `Only the app of the platform that bears the system role ${role} may call this.`);
}

function checkBodyResource(spec: RouteSpec, caller: Caller, body: unknown): void {
  if (spec.grant === undefined || typeof spec.grant.resource === 'string') return;
  const value = (body as Record<string, unknown>)[spec.grant.resource.body];
  const grants = 'grants' in caller ? caller.grants : [];
  if (typeof value !== 'string' || !allows(grants, spec.grant.id, value))
    throw refuse(
      'grant_missing',
      missingGrant(caller, spec.grant.id, `${spec.grant.resource.body} ${JSON.stringify(value)}`),
    );
}

function missingGrant(caller: Caller, id: PermissionId, target?: string): string {
  const app = 'appId' in caller ? caller.appId : 'This app';
  const scope = target === undefined ? '' : `, for ${target}`;
  return `${app} may not ${permissions[id].plain}${scope} (${id}). You can allow it in Settings → Apps → ${app}.`;
}

function rateSubject(caller: Caller, request: FastifyRequest): string {
  if ('installationId' in caller) return caller.installationId;
  // Not the session: an account may have a hundred.
  if (caller.kind === 'session') return caller.accountKey;
  if (caller.kind === 'node') return caller.nodeId;
  if (caller.kind === 'ingress') return caller.ingressId;
  return clientNetwork(request.ip);
}

function parse(schema: z.ZodType | undefined, value: unknown, where: 'path' | 'query'): unknown {
  if (schema === undefined) {
    if (where === 'query' && Object.keys(value as object).length > 0)
      throw refuse('invalid_request', 'This route takes no query parameters.');
    return undefined;
  }
  refuseUnstorable(value, where);
  const result = schema.safeParse(value, { error: schemaWords });
  if (result.success) return result.data;
  throw refuse('invalid_request', `The ${where} is not valid.`, { errors: fieldErrors(result.error) });
}
