// AI providers: the request goes to the provider under a key that core gives for this one call, and never sees the
// workload; what it used is settled with core afterwards. Only the model's name and the sizes of a call reach core.
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import {
  type AuthorizedIntelligence,
  type AuthorizeIntelligence,
  authorizedIntelligence,
  type GatewayPolicy,
  limits,
  matchesResource,
  type Refusal,
  RefusalError,
  refuse,
  resourceOfCall,
  sizeText,
} from '@platform/contract';
import {
  type Abandonable,
  type Carried,
  carry,
  dialingConnector,
  endFaulty,
  type IncomingRequest,
  openPool,
  type ProblemOptions,
  receiveBody,
  sendProblem,
} from '@platform/http';
import type { Pool } from 'undici';
import { CoreRefusal, openCoreCalls } from '../core-calls.ts';
import { queryNamesMethod } from '../method-override.ts';
import { isRedirect } from '../redirect.ts';
import { openRooms, type Room } from '../room.ts';
import type { GatewayService, ServiceContext } from '../service.ts';
import type { Dialect } from './dialect.ts';
import { dialects } from './dialects.ts';
import { type Endpoint, endpointOf } from './endpoints.ts';
import { headersToSend, passingHead, presentedKey, refuseMethods, singleField } from './heads.ts';
import { type Asked, bodyToSend, readAsked, UNREAD } from './request-body.ts';
import { onlyModels, withoutUsageEvent } from './rewrites.ts';
import { openSettlements } from './settlements.ts';
import { usageTap } from './usage-tap.ts';

const PREFIX = '/v1/services/intelligence/';
const TARGET = /^\/v1\/services\/intelligence\/([a-z0-9-]{1,32})(?:\/(.*))?$/;
/** Bodies of all calls of one Gateway together, as a multiple of the largest one. */
const BODIES = 2;
const BODY_MS = 300_000;

const WITHDRAWN: Refusal = {
  code: 'grant_missing',
  detail: 'This call was ended: the permission for its model was withdrawn (intelligence.use).',
};

const UNUSED = { inputTokens: 0, outputTokens: 0, reached: false };

export interface IntelligenceOptions {
  /** Milliseconds to the head of a provider's answer. */
  readonly headersTimeout?: number;
  /** Milliseconds of a whole call. */
  readonly deadline?: number;
}

export function intelligenceService(context: ServiceContext, options: IntelligenceOptions = {}): GatewayService {
  const core = openCoreCalls(context);
  const settlements = openSettlements(core);
  const pools = new Map<string, Pool>();
  let policy = context.policy.intelligence;
  const rooms = openRooms(BODIES * (policy?.bodyBytes ?? limits.intelligenceBody.value), context.memory);
  const underWay = new Set<Call>();
  let closed: Promise<void> | null = null;

  function poolFor(origin: string): Pool {
    const known = pools.get(origin);
    if (known !== undefined) return known;
    // The operator wrote the origin, so it may be on a private address.
    const ca = context.outbound.ca ?? undefined;
    const connect = dialingConnector({ dialer: context.dialer, allow: [origin], ca });
    const pool = openPool(origin, { connect });
    pools.set(origin, pool);
    return pool;
  }

  /** Whether the policy names the provider. A workload chooses the name, which may be one that every object has. */
  function isAssigned(provider: string): boolean {
    return policy !== undefined && Object.hasOwn(policy.dialects, provider);
  }

  /** How the provider is spoken to, as far as it is known here: core says it at every call. */
  function dialectFor(url: string, headers: IncomingHttpHeaders): Dialect {
    const provider = TARGET.exec(url.split('?', 1)[0] ?? '')?.[1] ?? '';
    const known = isAssigned(provider) ? policy?.dialects[provider] : undefined;
    return dialects[known ?? (headers['anthropic-version'] === undefined ? 'openai' : 'anthropic')];
  }

  function sendRefusal(res: ServerResponse, refusal: Refusal, more: ProblemOptions = {}): string {
    const { req } = res;
    // Stock clients would repeat the call, which cannot succeed before the next month.
    if (refusal.code === 'budget_exhausted' && !res.headersSent) res.setHeader('x-should-retry', 'false');
    return sendProblem(res, refusal, { ...more, extend: dialectFor(req.url ?? '', req.headers).refusal });
  }

  /** One call, from its first byte to its settlement. */
  class Call implements Abandonable {
    readonly #incoming: IncomingRequest;
    readonly #room: Room = rooms.open();
    #carried: Carried | null = null;
    #isAbandoned = false;
    #isWithdrawn = false;
    /** Since core was asked about it. */
    #concerns: Concern | null = null;

    constructor(incoming: IncomingRequest) {
      this.#incoming = incoming;
      underWay.add(this);
    }

    abandon(): void {
      this.#isAbandoned = true;
      this.#carried?.abandon();
      if (this.#carried === null) this.#over();
    }

    /** Ends it when the policy does not allow it any more. What it used until then is settled. */
    review(next: GatewayPolicy): void {
      if (this.#concerns === null || isAllowed(next, this.#concerns)) return;
      this.#isWithdrawn = true;
      this.#carried?.abort(WITHDRAWN);
    }

    #over(): void {
      underWay.delete(this);
      this.#room.free();
    }

    async run(): Promise<void> {
      try {
        await this.#run();
      } catch (error) {
        const refusal = refusalOf(error);
        this.#over();
        if (refusal === null) {
          if (this.#isAbandoned) return;
          throw error;
        }
        if (!this.#isAbandoned) sendRefusal(this.#incoming.res, refusal);
      }
    }

    async #run(): Promise<void> {
      const { req, head, query } = this.#incoming;
      const [, provider, path = ''] = TARGET.exec(this.#incoming.path) ?? [];
      if (provider === undefined) throw refuse('not_found', 'The address names no AI provider.');
      const method = req.method ?? 'GET';
      const contentType = singleField(head, 'content-type');
      const coding = singleField(head, 'content-encoding');
      refuseMethods(head);
      if (queryNamesMethod(query)) throw refuse('invalid_request', 'Send no method in the query of an AI call.');
      if (coding !== '' && coding.toLowerCase() !== 'identity')
        throw refuse('unsupported_media_type', 'Send the body without Content-Encoding.');
      const dialect = dialectFor(this.#incoming.path, req.headers);
      const endpoint = endpointOf(dialect.endpoints, method, path);
      // Core refuses it, and says why; nothing is kept for that.
      const isRefused = !isAssigned(provider);
      const body = isRefused ? null : await this.#readBody();
      const begun = performance.now();
      if (!isRefused && endpoint.refusal !== null) throw refuse('invalid_request', endpoint.refusal);
      const asked = isRefused ? UNREAD : await readAsked({ method, contentType, body }, endpoint);
      this.#concerns = { provider, resource: resourceOfCall({ provider, model: asked.model, method, path }) };
      const authorized = await this.#authorize({
        provider,
        model: asked.model,
        method,
        path: path.slice(0, 4_096),
        bodyBytes: body?.length ?? 0,
        outputLimit: asked.outputLimit,
      });
      settlements.open(authorized.reservation);
      try {
        if (isRefused || dialects[authorized.dialect] !== dialect) {
          // Grants or the operator's file changed under a running app; its next call is read in the other way.
          policy = {
            bodyBytes: policy?.bodyBytes ?? limits.intelligenceBody.value,
            dialects: { ...policy?.dialects, [provider]: authorized.dialect },
          };
          throw refuse('unavailable', 'What this app may use has just changed. Try again.', { retryAfter: 1 });
        }
        const key = await this.#open(authorized, provider);
        if (this.#isWithdrawn) throw new RefusalError(WITHDRAWN);
        if (this.#isAbandoned || closed !== null) throw refuse('unavailable', undefined, { retryAfter: 1 });
        this.#carry({ authorized, dialect, endpoint, asked, body, key, path, begun });
      } catch (error) {
        settlements.settle(authorized.reservation, UNUSED);
        throw error;
      }
    }

    async #authorize(call: Omit<AuthorizeIntelligence, 'reservation'>): Promise<AuthorizedIntelligence> {
      const reservation = `res-${randomUUID()}`;
      try {
        return await core.post('/v1/gateway/intelligence/authorize', { ...call, reservation }, authorizedIntelligence);
      } catch (error) {
        // Core may have reserved before its answer was lost.
        if (error instanceof CoreRefusal && error.refusal.code === 'unavailable')
          settlements.settle(reservation, UNUSED);
        throw error;
      }
    }

    async #readBody(): Promise<Buffer | null> {
      const { req, res, head, expectsContinue } = this.#incoming;
      const limit = policy?.bodyBytes ?? limits.intelligenceBody.value;
      if (!head.chunked && (head.contentLength ?? 0) === 0) return null;
      if ((head.contentLength ?? 0) > limit) throw tooLarge(limit);
      if (expectsContinue) res.writeContinue();
      const parts: Buffer[] = [];
      await receiveBody(req, { limit, milliseconds: BODY_MS }, (part) => {
        if (!this.#room.take(part.length))
          return Promise.reject(refuse('concurrency_limited', 'Too many large AI calls at once.', { retryAfter: 1 }));
        parts.push(part);
        return undefined;
      });
      return Buffer.concat(parts);
    }

    /** @throws RefusalError `unavailable` when the envelope is not for this call */
    async #open({ envelope, baseUrl }: AuthorizedIntelligence, provider: string): Promise<string> {
      const { installationId } = context;
      try {
        const key = await context.envelopes.open(
          { purpose: 'intelligence', installationId, bound: [provider, baseUrl] },
          envelope,
        );
        const text = key.toString('latin1');
        key.fill(0);
        return text;
      } catch {
        throw refuse('unavailable', 'The key of this call could not be opened. Stop and start the app once.');
      }
    }

    #carry(call: {
      readonly authorized: AuthorizedIntelligence;
      readonly dialect: Dialect;
      readonly endpoint: Endpoint;
      readonly asked: Asked;
      readonly body: Buffer | null;
      readonly key: string;
      readonly path: string;
      readonly begun: number;
    }): void {
      const { authorized, dialect, endpoint, asked, key } = call;
      const base = new URL(authorized.baseUrl);
      const basePath = base.pathname.replace(/\/$/, '');
      const path = dialect.upstreamPath(call.path, basePath);
      const body = bodyToSend(call.body, { asked, endpoint, outputLimit: authorized.outputLimit });
      const fields = headersToSend(this.#incoming.head, dialect, key);
      const before = performance.now() - call.begun;
      const { visibleModels } = authorized;
      const tap = usageTap({
        dialect,
        endpoint,
        estimatedInput: authorized.estimatedInput,
        reservedOutput: asked.outputLimit ?? authorized.outputLimit ?? limits.intelligenceOutput.value,
        room: this.#room,
        onEnd: (used) => {
          settlements.settle(authorized.reservation, used);
          this.#over();
        },
      });
      const carried = carry(this.#incoming, {
        upstream: {
          name: 'provider',
          dispatcher: poolFor(base.origin),
          path: `${basePath}${path === '' ? '' : '/'}${path}${this.#incoming.query}`,
          headers: fields,
          filterResponse: passingHead(key, before),
          headersTimeout: options.headersTimeout ?? limits.intelligenceHeadSeconds.value * 1_000,
          onFailure: context.onFailure,
        },
        ...(body === null ? {} : { body }),
        deadline: options.deadline ?? limits.intelligenceCallSeconds.value * 1_000,
        refuse: sendRefusal,
        rewrite(status, headers) {
          if (status < 200 || status >= 300) return null;
          if (visibleModels !== null) return onlyModels(visibleModels);
          const isStream = /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
          return asked.hidesUsage && isStream ? withoutUsageEvent(dialect) : null;
        },
        tap: {
          ...tap,
          head(status, headers) {
            tap.head?.(status, headers);
            if (isRedirect(status)) carried.abort({ code: 'upstream_redirect_refused' });
          },
        },
      });
      this.#carried = carried;
    }
  }

  return {
    prefixes: [PREFIX],
    presented: presentedKey,
    refuse: sendRefusal,
    handle(incoming) {
      if (closed !== null) {
        sendRefusal(incoming.res, { code: 'unavailable', retryAfter: 1 });
        return null;
      }
      const call = new Call(incoming);
      call.run().catch((error: unknown) => {
        endFaulty(incoming.res);
        context.onFault(error);
      });
      return call;
    },
    async apply(next) {
      policy = next.intelligence;
      for (const call of underWay) call.review(next);
    },
    close() {
      closed ??= (async () => {
        for (const call of underWay) call.abandon();
        await settlements.close();
        await Promise.all([core.close(), ...[...pools.values()].map((pool) => pool.destroy())]);
      })();
      return closed;
    },
  };
}

/** What a call was let through for. */
interface Concern {
  readonly provider: string;
  /** As `resourceOfCall` says. */
  readonly resource: string | null;
}

function isAllowed({ intelligence }: GatewayPolicy, { provider, resource }: Concern): boolean {
  if (intelligence === undefined || !Object.hasOwn(intelligence.dialects, provider)) return false;
  const { models } = intelligence;
  return resource === null || models === undefined || models.some((pattern) => matchesResource(pattern, resource));
}

function tooLarge(limit: number): RefusalError {
  return refuse('payload_too_large', `The body of an AI call may have at most ${sizeText(limit)}.`);
}

function refusalOf(error: unknown): Refusal | null {
  return error instanceof CoreRefusal || error instanceof RefusalError ? error.refusal : null;
}
