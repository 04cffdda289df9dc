// The requests of one session with the server of a backend: through core's own way to it, bounded in bytes and in silence.
import { Readable } from 'node:stream';
import type { ClientCapabilities, FetchLike, LoggingMessageNotification } from '@modelcontextprotocol/client';
import { type InstallationId, limits, RefusalError, refuse, sizeText } from '@platform/contract';
import type { CoreContext } from '../../context.ts';

export interface SessionOptions {
  /** The app that calls; `null` for the platform itself, which lists. */
  readonly caller: string | null;
  /** Opaque to the backend, which sends it on with calls that it makes meanwhile. */
  readonly chain?: string;
  /** Ends whatever is under way. */
  readonly signal: AbortSignal;
  /** For what the backend may ask the client of the caller. Default: nothing. */
  readonly capabilities?: ClientCapabilities;
  /** What the backend says of its work. */
  readonly onLog?: (said: LoggingMessageNotification['params']) => void;
  /** Called at each sign of life: the head of an answer, and every piece of it. */
  readonly alive?: () => void;
}

/** Bytes of all answers of a session, beside the result: progress, and what frames them. */
const BESIDES = 1_024 * 1_024;
/** After the end of an answer, in which there was none: nothing more will come. */
const UNANSWERED_MILLISECONDS = 2_000;

export class BackendFetch {
  readonly #context: CoreContext;
  readonly #id: InstallationId;
  readonly #options: SessionOptions;
  readonly #broken = new AbortController();
  /** Ends what is under way: as `signal` says, or because the backend did what no session survives. */
  readonly over: AbortSignal;
  /** Why the session failed; `undefined` while it did not, or where the client has to say. */
  refusal: RefusalError | undefined;
  #left = limits.toolResult.value + BESIDES;
  #open = 0;
  #unanswered: NodeJS.Timeout | undefined;

  constructor(context: CoreContext, id: InstallationId, options: SessionOptions) {
    this.#context = context;
    this.#id = id;
    this.#options = options;
    this.over = AbortSignal.any([options.signal, this.#broken.signal]);
  }

  /** Bound, so that it can be handed on. */
  readonly fetch: FetchLike = async (url, init = {}) => {
    const { method = 'GET' } = init;
    // A stream of its own, that would keep the backend awake.
    if (method === 'GET') return new Response(null, { status: 405 });
    const { caller, chain } = this.#options;
    const { pathname, search } = new URL(url);
    this.#begin();
    try {
      const answer = await this.#context.backends.call(this.#id, {
        method,
        path: pathname + search,
        headers: {
          ...Object.fromEntries(new Headers(init.headers as HeadersInit)),
          ...(caller === null ? {} : { 'platform-caller': caller }),
          ...(chain === undefined ? {} : { 'platform-tool-chain': chain }),
        },
        ...(typeof init.body === 'string' ? { body: Buffer.from(init.body) } : {}),
        signal: init.signal == null ? this.over : AbortSignal.any([this.over, init.signal]),
      });
      this.#options.alive?.();
      answer.body.once('close', () => this.#end());
      const hasBody = answer.status !== 202 && answer.status !== 204 && answer.status !== 304;
      const body = hasBody ? this.#metered(answer.body) : null;
      if (!hasBody) answer.body.destroy();
      return new Response(body, { status: answer.status, headers: fieldsOf(answer.headers) });
    } catch (error) {
      this.#end();
      if (error instanceof RefusalError) this.refusal ??= error;
      throw error;
    }
  };

  close(): void {
    clearTimeout(this.#unanswered);
    this.#broken.abort();
  }

  #metered(body: Readable): ReadableStream<Uint8Array> {
    body.on('data', (piece: Buffer) => {
      this.#options.alive?.();
      this.#left -= piece.length;
      if (this.#left < 0) this.#break(`The app answered with more than ${sizeText(limits.toolResult.value)}.`);
    });
    body.pause();
    return Readable.toWeb(body) as ReadableStream<Uint8Array>;
  }

  #begin(): void {
    this.#open += 1;
    clearTimeout(this.#unanswered);
  }

  #end(): void {
    this.#open -= 1;
    if (this.#open > 0 || this.over.aborted) return;
    clearTimeout(this.#unanswered);
    this.#unanswered = setTimeout(
      () => this.#break('The app ended its answer without a result.'),
      UNANSWERED_MILLISECONDS,
    );
  }

  #break(why: string): void {
    this.refusal ??= refuse('upstream_failed', why);
    this.#broken.abort(this.refusal);
  }
}

function fieldsOf(headers: object): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' ? [[name, value]] : [],
  );
}
