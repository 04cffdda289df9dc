// One public HTTP request, from its accepted head to the end of its answer: a short body arrives before it takes its place, a
// longer one passes as it arrives. Every way ends in `abandon`, which gives back what the request held.
import { limits as contractLimits, type Refusal, RefusalError, sizeText } from '@platform/contract';
import {
  type Abandonable,
  type Carried,
  carry,
  type IncomingRequest,
  readBody,
  requireUploadRate,
  sendProblem,
} from '@platform/http';
import type { Client } from './client-address.ts';
import type { Passage } from './front.ts';
import { HELD_BYTES } from './held-bodies.ts';
import { PublicExchange, type Way } from './public-exchange.ts';

/** Without a byte, until a request counts as one that waits for its client. */
const IDLE_MILLISECONDS = 1_000;

export class PublicRequest extends PublicExchange<IncomingRequest> implements Abandonable {
  readonly #incoming: IncomingRequest;
  #body: Buffer | undefined;
  /** When bytes last passed, in either direction. */
  #stirredAt: number;
  #bytes = 0;

  constructor(passage: Passage, incoming: IncomingRequest, connection: Client) {
    super(passage, incoming, connection, incoming.req.method ?? '');
    this.#incoming = incoming;
    this.#stirredAt = this.begunAt;
  }

  begin(): void {
    const { metrics, limits } = this.passage.options;
    const { head, res } = this.#incoming;
    metrics.requestBegan();
    res.on('error', () => res.destroy());
    if (!this.admit()) return;
    const length = head.chunked ? -1 : (head.contentLength ?? 0);
    if (length > limits.bodyBytes) this.refuse(this.#tooLarge());
    else if (length > 0 && length <= HELD_BYTES) this.#readBody(length);
    else this.enter();
  }

  abandon(): void {
    const { res } = this.#incoming;
    const status = res.headersSent ? res.statusCode : null;
    if (!this.finish({ status, bytes: this.#bytes })) return;
    const { metrics, now } = this.passage.options;
    metrics.requestEnded();
    if (!this.isRefused && status !== null) metrics.answered(status, (now() - this.begunAt) / 1_000, this.#bytes);
  }

  isIdle(): boolean {
    const { req, res } = this.#incoming;
    if (this.passage.options.now() - this.#stirredAt < IDLE_MILLISECONDS) return false;
    return res.writableLength > 0 || (!req.complete && !res.headersSent);
  }

  chunk(bytes: Buffer): void {
    this.heard();
    this.#bytes += bytes.length;
    this.#stirredAt = this.passage.options.now();
  }

  /** The client may still be reading. */
  end(): void {
    this.leaveNode();
  }

  protected answerRefused(refusal: Refusal): void {
    sendProblem(this.#incoming.res, refusal, { requestId: this.requestId });
  }

  protected carry(incoming: IncomingRequest, way: Way): Carried {
    const body = this.#body;
    if (body === undefined) this.#watchUpload();
    return carry(incoming, { ...way, tap: this, ...(body === undefined ? {} : { body }) });
  }

  #tooLarge(): Refusal {
    const { bodyBytes } = this.passage.options.limits;
    return { code: 'payload_too_large', detail: `The body may have at most ${sizeText(bodyBytes)}.` };
  }

  /** Waits for a short body, without a place among the requests of the installation. */
  #readBody(length: number): void {
    const { req, res, expectsContinue } = this.#incoming;
    const giveBack = this.passage.bodies.take(this.network, length);
    if (giveBack === null) {
      this.refuse({ code: 'concurrency_limited', detail: 'Too many bodies are arriving.', retryAfter: 1 });
      return;
    }
    this.keep(giveBack);
    if (expectsContinue) res.writeContinue();
    readBody(req, { limit: length, milliseconds: contractLimits.bodySeconds.value * 1_000 }).then(
      (body) => {
        this.#body = body;
        this.enter();
      },
      (error: unknown) => {
        if (error instanceof RefusalError) this.refuse(error.refusal);
      },
    );
  }

  /** Of a body that passes as it arrives: how fast it comes, and how long it gets. */
  #watchUpload(): void {
    const { req, res, head } = this.#incoming;
    if (!head.chunked && (head.contentLength ?? 0) === 0) return;
    requireUploadRate(req, res, contractLimits.uploadRate.value);
    let bytes = 0;
    req.on('data', (chunk: Buffer) => {
      this.#stirredAt = this.passage.options.now();
      bytes += chunk.length;
      if (bytes > this.passage.options.limits.bodyBytes) this.giveWay(this.#tooLarge());
    });
  }
}
