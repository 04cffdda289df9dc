// One call of the messaging bridge (contract 4f, "Bridge"): for one account, in bounded time, and of the answer only what the
// contract's schemas name. Whatever else a bridge says stays here.
import {
  limits,
  MESSAGING_BRIDGE_ANSWER,
  MESSAGING_BRIDGE_PATH,
  MESSAGING_BRIDGE_PATIENCE,
  MESSAGING_BRIDGE_VERSION,
  type MessagingBridgeErrorCode,
  type MessagingBridgeInput,
  type MessagingBridgeNotices,
  type MessagingBridgeNoticesInput,
  type MessagingBridgeOperation,
  type MessagingBridgeResult,
  type MessagingBridgeSubject,
  messagingBridgeAnswer,
  messagingBridgeFailure,
  messagingBridgeNoticesAnswer,
  messagingBridgeOperations,
  type RefusalError,
  refuse,
} from '@platform/contract';
import { Pile } from '@platform/contract/pile';
import { CONNECTION_AGE_MS, createDialer, type Dialer, dialingConnector } from '@platform/http';
import { type Dispatcher, Pool } from 'undici';
import { Turns } from '../../background/turns.ts';
import type { CoreContext } from '../../context.ts';
import { decodeJson } from '../../http/bodies/parse-body.ts';
import { Outage } from './outage.ts';

type Context = Pick<CoreContext, 'config' | 'log' | 'stopping'>;

export interface CallOptions {
  /** Gives the call up. */
  readonly signal?: AbortSignal | undefined;
  /** It waits for news, beside the account's other calls. */
  readonly waits?: boolean;
}

export interface BridgeClientOptions {
  readonly url: string;
  readonly token: string;
  /** Default: connects from this machine. */
  readonly dialer?: Dialer;
  /** Milliseconds until an answer is too late. Default: as the contract says. */
  readonly patience?: number;
}

/** Calls of one account at a time, so that nobody waits for those of others; further ones wait for these. */
const CALLS = 4;
/** And of those for which the bridge asks other servers, which may take their time: the others do not wait for them. */
const CALLS_ELSEWHERE = 3;
const ELSEWHERE: ReadonlySet<MessagingBridgeOperation> = new Set(['resolve', 'direct', 'accept']);
/** And of those for which it may have to: a message can need a room, and a room is left at the servers of all who are in it. */
const CALLS_TALKING = 8;
const TALKING: ReadonlySet<MessagingBridgeOperation> = new Set(['send', 'leave']);
/** The bridge does these of one conversation in their order: those that wait for the first of them take the place of no other. */
const IN_ORDER: ReadonlySet<MessagingBridgeOperation> = new Set(['send', 'accept']);
const CALLS_WAITING = 64;
const NOTHING_HEARD = 'The messaging bridge does not answer. Ask the operator.';

export class BridgeClient {
  readonly #context: Context;
  readonly #token: string;
  readonly #path: string;
  readonly #pool: Pool;
  readonly #patience: number;
  readonly #outage = new Outage();
  readonly #calls: Turns;
  readonly #callsElsewhere: Turns;
  readonly #callsTalking: Turns;
  readonly #inOrder: Turns;
  readonly #waits: Turns;

  constructor(context: Context, options: BridgeClientOptions) {
    const { url, token, dialer = createDialer(), patience = MESSAGING_BRIDGE_PATIENCE } = options;
    const { origin, pathname } = new URL(url);
    this.#context = context;
    this.#token = token;
    this.#path = pathname.replace(/\/$/, '') + MESSAGING_BRIDGE_PATH;
    this.#patience = patience;
    this.#pool = new Pool(origin, {
      pipelining: 1,
      keepAliveTimeout: 4_000,
      headersTimeout: patience,
      bodyTimeout: patience,
      maxResponseSize: MESSAGING_BRIDGE_ANSWER,
      clientTtl: CONNECTION_AGE_MS,
      connect: dialingConnector({ dialer, allow: [origin], ca: context.config.outbound.ca ?? undefined }),
    });
    const detail = 'Too many calls for messages of this account wait. Ask for fewer at a time.';
    const turns = (ofKey: number) => new Turns({ ofKey, waiting: CALLS_WAITING, milliseconds: 20_000, detail });
    this.#calls = turns(CALLS);
    this.#callsElsewhere = turns(CALLS_ELSEWHERE);
    this.#callsTalking = turns(CALLS_TALKING);
    this.#inOrder = turns(1);
    this.#waits = new Turns({ ofKey: 2 * limits.messagingSyncs.value, waiting: 0, milliseconds: 0, detail });
  }

  /** @throws RefusalError as contract 4f says for answers of the bridge, or the reason of `signal` */
  async call<Operation extends MessagingBridgeOperation>(
    subject: MessagingBridgeSubject,
    operation: Operation,
    input: MessagingBridgeInput<Operation>,
    { signal, waits = false }: CallOptions = {},
  ): Promise<MessagingBridgeResult<Operation>> {
    const exchange = async () => {
      const request = { version: MESSAGING_BRIDGE_VERSION, operation, subject, input };
      const { status, body } = await this.#exchange(JSON.stringify(request), signal);
      if (status !== 200) throw this.#failed(operation, status, body);
      const answer = messagingBridgeAnswer.safeParse(body);
      if (!answer.success)
        throw this.#refused(operation, 'its answer is none of version 1, or the account is not provisioned');
      if (answer.data.userId !== subject.transportUserId)
        throw this.#refused(operation, 'its answer is of another account');
      const result = messagingBridgeOperations[operation].result.safeParse(answer.data.result);
      if (!result.success) throw this.#refused(operation, 'its result has not the shape of this operation');
      // By the schema of this operation.
      return result.data as MessagingBridgeResult<Operation>;
    };
    const { accountId } = subject;
    const turns = waits ? this.#waits : this.#turnsOf(operation);
    const call = () => turns.run(accountId, exchange, signal);
    if (!(IN_ORDER.has(operation) && 'conversationId' in input)) return await call();
    return await this.#inOrder.run(`${accountId} ${input.conversationId}`, call, signal);
  }

  #turnsOf(operation: MessagingBridgeOperation): Turns {
    if (ELSEWHERE.has(operation)) return this.#callsElsewhere;
    return TALKING.has(operation) ? this.#callsTalking : this.#calls;
  }

  /**
   * Asks for notices of all accounts.
   *
   * @returns `null` of a bridge that has none
   * @throws as `call`
   */
  async notices(input: MessagingBridgeNoticesInput, signal: AbortSignal): Promise<MessagingBridgeNotices | null> {
    const request = { version: MESSAGING_BRIDGE_VERSION, operation: 'notices', input };
    const { status, body } = await this.#exchange(JSON.stringify(request), signal);
    if (status === 400) return null;
    if (status !== 200) throw this.#failed('notices', status, body);
    const answer = messagingBridgeNoticesAnswer.safeParse(body);
    if (!answer.success) throw this.#refused('notices', 'its answer is none of version 1');
    return answer.data.result;
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }

  /** What a result says is wrong in a way that its schema does not know. */
  wrong(operation: MessagingBridgeOperation | 'notices', why: string): RefusalError {
    return this.#refused(operation, why);
  }

  async #exchange(body: string, given: AbortSignal | undefined): Promise<{ status: number; body: unknown }> {
    if (this.#outage.lasts) throw this.#unavailable();
    const late = AbortSignal.timeout(this.#patience);
    const { stopping } = this.#context;
    const signal = AbortSignal.any([late, stopping, ...(given === undefined ? [] : [given])]);
    let answer: Dispatcher.ResponseData;
    try {
      answer = await this.#pool.request({
        method: 'POST',
        path: this.#path,
        headers: {
          authorization: `Bearer ${this.#token}`,
          'content-type': 'application/json',
          accept: 'application/json',
        },
        body,
        signal,
      });
    } catch (error) {
      if (given?.aborted) throw given.reason;
      if (late.aborted || isTimeout(error)) throw this.#tooLate();
      // A connection that broke says nothing of the next one.
      if (!stopping.aborted && !isBroken(error))
        this.#outage.begin(() => this.#warn('cannot be reached', { err: error }));
      throw this.#unavailable();
    }
    this.#outage.end();
    try {
      return { status: answer.statusCode, body: decodeJson(await wholeOf(answer.body)) };
    } catch (error) {
      if (given?.aborted) throw given.reason;
      if (late.aborted || isTimeout(error)) throw this.#tooLate();
      if (answer.statusCode !== 200) return { status: answer.statusCode, body: undefined };
      this.#warn('gave an answer that is too large, broken or no JSON', {});
      throw refuse('upstream_failed', 'The messaging bridge gave no answer that can be used.');
    }
  }

  #failed(operation: MessagingBridgeOperation | 'notices', status: number, body: unknown): RefusalError {
    const failure = status < 400 ? undefined : messagingBridgeFailure.safeParse(body).data;
    if (failure !== undefined) return refusalOf(failure.error.code);
    this.#warn('refused a call without a word that core knows', { operation, status });
    if (status === 401 || status === 403)
      return refuse('transport_unavailable', 'The messaging bridge does not accept this platform. Ask the operator.');
    return status >= 500
      ? this.#unavailable()
      : refuse('upstream_failed', 'The messaging bridge gave no answer that can be used.');
  }

  #refused(operation: MessagingBridgeOperation | 'notices', why: string): RefusalError {
    this.#warn(`gave an answer that is not accepted: ${why}`, { operation });
    return refuse('upstream_failed', 'The messaging bridge gave an answer that is not accepted.');
  }

  #tooLate(): RefusalError {
    return refuse('upstream_timeout', 'The messaging bridge took too long to answer.');
  }

  #unavailable(): RefusalError {
    return refuse('transport_unavailable', NOTHING_HEARD, { retryAfter: 2 });
  }

  #warn(what: string, fields: object): void {
    this.#context.log.warn(fields, `the messaging bridge ${what}`);
  }
}

/** What a bridge says in words stays with it: nobody knows what it holds. */
function refusalOf(code: MessagingBridgeErrorCode): RefusalError {
  switch (code) {
    case 'not_found':
      return refuse('not_found');
    case 'no_encryption':
      return refuse(
        'conversation_conflict',
        'Somebody in this conversation has no device with encryption. Nothing was sent.',
      );
    case 'unreachable':
      return refuse('upstream_failed', 'The server of the other side does not answer. Try again later.');
    case 'rate_limited':
      return refuse('rate_limited', 'The homeserver takes no more at present. Try again in a minute.', {
        retryAfter: 60,
      });
    case 'conflict':
      return refuse('conversation_conflict', 'This cannot be done in the present state of the conversation.');
    case 'unavailable':
      return refuse('transport_unavailable', 'The messaging bridge cannot work at present. Try again later.', {
        retryAfter: 10,
      });
  }
}

async function wholeOf(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const pile = new Pile();
  for await (const piece of body) pile.add(piece);
  return pile.take();
}

function isBroken(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE';
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && (error.name === 'HeadersTimeoutError' || error.name === 'BodyTimeoutError');
}
