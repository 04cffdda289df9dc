// One AI call, from its first byte to its settlement: it is read, core authorizes it, and it is carried to the provider.
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import {
  type AuthorizedIntelligence,
  authorizedIntelligence,
  type GatewayPolicy,
  limits,
  type Refusal,
  RefusalError,
  refuse,
  resourceOfCall,
  sizeText,
} from '@platform/contract';
import { Pile } from '@platform/contract/pile';
import {
  type Abandonable,
  type Carried,
  carry,
  type IncomingRequest,
  type ProblemOptions,
  receiveBody,
} from '@platform/http';
import { type CoreCalls, CoreRefusal } from '../core-calls.ts';
import { queryNamesMethod } from '../overrides.ts';
import { isRedirect } from '../redirect.ts';
import type { Room } from '../room.ts';
import type { ServiceContext } from '../service.ts';
import { accountTap } from './accounting/accounting.ts';
import type { Dialect } from './dialect.ts';
import { dialects } from './dialects.ts';
import { type Endpoint, endpointOf } from './endpoints.ts';
import { headersToSend, passingHead, refuseMethods, singleField } from './heads.ts';
import { type Concern, isAllowed, type ProviderPolicy, targetOf } from './provider-policy.ts';
import type { ProviderPools } from './provider-pools.ts';
import { type Asked, bodyToSend, readAsked, UNREAD } from './request-body.ts';
import { onlyModels, withoutUsage } from './rewrites.ts';
import type { Settlements } from './settlements.ts';

const BODY_MS = 300_000;

const WITHDRAWN: Refusal = {
  code: 'grant_missing',
  detail: 'This call was ended: the permission for its model was withdrawn (intelligence.use).',
};

const UNUSED = { inputTokens: 0, outputTokens: 0, reached: false };

/** What a call shares with all others of its Gateway. */
export interface CallMeans {
  readonly context: ServiceContext;
  readonly core: CoreCalls;
  readonly settlements: Settlements;
  readonly policy: ProviderPolicy;
  readonly pools: ProviderPools;
  /** Milliseconds to the head of a provider's answer. */
  readonly headersTimeout: number;
  /** Milliseconds of a whole call. */
  readonly deadline: number;
  /** Whether the service takes no more calls. */
  isClosing(): boolean;
  /** Writes a refusal as the client expects it. */
  refuse(res: ServerResponse, refusal: Refusal, more?: ProblemOptions): string;
}

/** What a call is, as far as its bytes say. */
interface ReadCall {
  readonly provider: string;
  readonly method: string;
  /** Below the provider. */
  readonly path: string;
  readonly dialect: Dialect;
  readonly endpoint: Endpoint;
  readonly asked: Asked;
  /** `null` for none. */
  readonly body: Buffer | null;
  /** Core will refuse it, and say why; its body was not read. */
  readonly isRefused: boolean;
  /** When its body was there, as `performance.now`. */
  readonly begun: number;
}

export class Call implements Abandonable {
  readonly #incoming: IncomingRequest;
  readonly #means: CallMeans;
  readonly #room: Room;
  readonly #onOver: () => void;
  #carried: Carried | null = null;
  #isAbandoned = false;
  #isWithdrawn = false;
  /** Since core was asked about it. */
  #concerns: Concern | null = null;

  /** @param onOver called when it has ended, however it did */
  constructor(incoming: IncomingRequest, room: Room, means: CallMeans, onOver: (call: Call) => void) {
    this.#incoming = incoming;
    this.#room = room;
    this.#means = means;
    this.#onOver = () => onOver(this);
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
    this.#onOver();
    this.#room.free();
  }

  /** Resolves when the provider was called, or the call was refused. @throws what only a bug can cause */
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
      if (!this.#isAbandoned) this.#means.refuse(this.#incoming.res, refusal);
    }
  }

  async #run(): Promise<void> {
    const call = await this.#read();
    const { provider, method, path, asked } = call;
    this.#concerns = { provider, resource: resourceOfCall({ provider, model: asked.model, method, path }) };
    const authorized = await this.#authorize(call);
    const { settlements } = this.#means;
    settlements.open(authorized.reservation);
    try {
      this.#requireReadRightly(call, authorized);
      if (asked.copies > 1 && reservedFor(asked, authorized) < asked.copies)
        throw refuse(
          'budget_exhausted',
          'Less is left of this app’s budget for the month than a token for each answer.',
        );
      const key = await this.#open(authorized, provider);
      if (this.#isWithdrawn) throw new RefusalError(WITHDRAWN);
      if (this.#isAbandoned || this.#means.isClosing()) throw refuse('unavailable', undefined, { retryAfter: 1 });
      this.#carry(call, authorized, key);
    } catch (error) {
      settlements.settle(authorized.reservation, UNUSED);
      throw error;
    }
  }

  async #read(): Promise<ReadCall> {
    const { req, head, query } = this.#incoming;
    const { policy } = this.#means;
    const target = targetOf(this.#incoming.path);
    if (target === null) throw refuse('not_found', 'The address names no AI provider.');
    const { provider, path } = target;
    const method = req.method ?? 'GET';
    const contentType = singleField(head, 'content-type');
    const coding = singleField(head, 'content-encoding');
    refuseMethods(head);
    if (queryNamesMethod(query)) throw refuse('invalid_request', 'Send no method in the query of an AI call.');
    if (coding !== '' && coding.toLowerCase() !== 'identity')
      throw refuse('unsupported_media_type', 'Send the body without Content-Encoding.');
    const dialect = policy.dialectFor(this.#incoming.path, req.headers);
    const endpoint = endpointOf(dialect.endpoints, method, path);
    // Core refuses it, and says why; nothing is kept for that.
    const isRefused = !policy.isAssigned(provider);
    const body = isRefused ? null : await this.#readBody();
    const begun = performance.now();
    if (!isRefused && endpoint.refusal !== null) throw refuse('invalid_request', endpoint.refusal);
    const asked = isRefused ? UNREAD : await readAsked({ method, contentType, body }, endpoint);
    return { provider, method, path, dialect, endpoint, asked, body, isRefused, begun };
  }

  async #readBody(): Promise<Buffer | null> {
    const { req, res, head, expectsContinue } = this.#incoming;
    const limit = this.#means.policy.bodyBytes();
    if (!head.chunked && (head.contentLength ?? 0) === 0) return null;
    if ((head.contentLength ?? 0) > limit) throw tooLarge(limit);
    if (expectsContinue) res.writeContinue();
    const pile = new Pile();
    await receiveBody(req, { limit, milliseconds: BODY_MS }, (part) => {
      if (!this.#room.take(part.length))
        return Promise.reject(refuse('concurrency_limited', 'Too many large AI calls at once.', { retryAfter: 1 }));
      pile.add(part);
      return undefined;
    });
    return pile.take();
  }

  async #authorize({ provider, method, path, asked, body }: ReadCall): Promise<AuthorizedIntelligence> {
    const { core, settlements } = this.#means;
    const reservation = `res-${randomUUID()}`;
    const { model, outputLimit } = asked;
    try {
      return await core.post(
        '/v1/gateway/intelligence/authorize',
        { provider, model, method, path: path.slice(0, 4_096), bodyBytes: body?.length ?? 0, outputLimit, reservation },
        authorizedIntelligence,
      );
    } catch (error) {
      // Core may have reserved before its answer was lost.
      if (error instanceof CoreRefusal && error.refusal.code === 'unavailable') settlements.settle(reservation, UNUSED);
      throw error;
    }
  }

  /** @throws RefusalError `unavailable` when it was read in another dialect than core says; the next call is read in that */
  #requireReadRightly({ provider, dialect, isRefused }: ReadCall, authorized: AuthorizedIntelligence): void {
    if (!isRefused && dialects[authorized.dialect] === dialect) return;
    // Grants or the operator's file changed under a running app.
    this.#means.policy.learn(provider, authorized.dialect);
    throw refuse('unavailable', 'What this app may use has just changed. Try again.', { retryAfter: 1 });
  }

  /** @throws RefusalError `unavailable` when the envelope is not for this call */
  async #open({ envelope, baseUrl }: AuthorizedIntelligence, provider: string): Promise<string> {
    const { installationId, envelopes } = this.#means.context;
    try {
      const key = await envelopes.open(
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

  /** Sends it to the provider, and its answer back; settles it at its end. */
  #carry(call: ReadCall, authorized: AuthorizedIntelligence, key: string): void {
    const { dialect, endpoint, asked } = call;
    const { settlements, pools, context, headersTimeout, deadline } = this.#means;
    const base = new URL(authorized.baseUrl);
    const basePath = base.pathname.replace(/\/$/, '');
    const path = dialect.upstreamPath(call.path, basePath);
    const { streamUsage } = authorized;
    const reservedOutput = reservedFor(asked, authorized);
    const body = bodyToSend(call.body, { asked, endpoint, reservedOutput, streamUsage });
    const fields = headersToSend(this.#incoming.head, dialect, key);
    const before = performance.now() - call.begun;
    const { visibleModels } = authorized;
    // Alone, so that the body as it was read is not kept beside the one that is sent.
    const withholdsUsage = asked.hidesUsage && streamUsage;
    const tap = accountTap({
      dialect,
      endpoint,
      estimatedInput: authorized.estimatedInput,
      reservedOutput,
      room: this.#room,
      onEnd: (used) => {
        settlements.settle(authorized.reservation, used);
        this.#over();
      },
    });
    const carried = carry(this.#incoming, {
      upstream: {
        name: 'provider',
        dispatcher: pools.poolFor(base.origin),
        path: `${basePath}${path === '' ? '' : '/'}${path}${this.#incoming.query}`,
        headers: fields,
        filterResponse: passingHead(key, before),
        headersTimeout,
        onFailure: context.onFailure,
      },
      ...(body === null ? {} : { body }),
      deadline,
      refuse: this.#means.refuse,
      rewrite(status, headers) {
        if (status < 200 || status >= 300) return null;
        if (visibleModels !== null) return onlyModels(visibleModels);
        const isStream = /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
        return withholdsUsage && isStream ? withoutUsage() : null;
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

/** Tokens of output that core reserved. */
function reservedFor(asked: Asked, authorized: AuthorizedIntelligence): number {
  return asked.outputLimit ?? authorized.outputLimit ?? limits.intelligenceOutput.value;
}

function tooLarge(limit: number): RefusalError {
  return refuse('payload_too_large', `The body of an AI call may have at most ${sizeText(limit)}.`);
}

function refusalOf(error: unknown): Refusal | null {
  return error instanceof CoreRefusal || error instanceof RefusalError ? error.refusal : null;
}
