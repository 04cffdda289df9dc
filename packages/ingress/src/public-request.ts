// One public HTTP request, from its accepted head to the end of its answer: admitted or refused, its short body read, its
// turn awaited, carried to the node. Every way ends in `abandon`, which gives back what the request held.
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { clientNetwork, limits as contractLimits, type Refusal, RefusalError } from '@platform/contract';
import {
  type Abandonable,
  type Carried,
  carry,
  hold,
  type IncomingRequest,
  readBody,
  requireUploadRate,
  sendProblem,
  type Tap,
} from '@platform/http';
import type { Client } from './client-address.ts';
import type { Passage } from './front.ts';
import { HELD_BYTES } from './held-bodies.ts';
import { REACH_MILLISECONDS } from './limits.ts';
import type { Occupant } from './places.ts';
import type { PublicName, UnderWay } from './topology.ts';
import { isNodeRefusal, NOT_REACHED, requestIdOf, upstreamOf } from './upstream.ts';

/** Without a byte, until a request counts as one that waits for its client. */
const IDLE_MILLISECONDS = 1_000;

export class PublicRequest implements Abandonable, Occupant, UnderWay, Tap {
  readonly method: string;
  readonly path: string;
  readonly network: string;
  readonly #passage: Passage;
  readonly #incoming: IncomingRequest;
  readonly #client: Client;
  readonly #begun: number;
  readonly #time: Date;
  #requestId: string = randomUUID();
  #name: PublicName | null = null;
  /** What gives back a place or bytes, each once. */
  readonly #leaves: (() => void)[] = [];
  #leaveQueue: (() => void) | null = null;
  #carried: Carried | null = null;
  #held: Abandonable | null = null;
  #reaching: NodeJS.Timeout | null = null;
  #isSent = false;
  /** When bytes last passed, in either direction. */
  #stirredAt = 0;
  #isOver = false;
  #bytes = 0;
  #refused: Refusal['code'] | undefined;

  constructor(passage: Passage, incoming: IncomingRequest, connection: Client) {
    const { req, path } = incoming;
    this.#passage = passage;
    this.#incoming = incoming;
    this.method = req.method ?? '';
    this.path = path;
    this.#client = passage.readClient(connection, req.headers);
    this.network = clientNetwork(this.#client.address);
    this.#begun = passage.options.now();
    this.#stirredAt = this.#begun;
    this.#time = passage.options.clock();
  }

  begin(): void {
    const { admission, options } = this.#passage;
    const { head, res } = this.#incoming;
    options.metrics.requestBegan();
    res.on('error', () => res.destroy());
    const { method, path } = this;
    const admitted = admission.admit({ host: head.host, method, path, client: this.#client });
    this.#name = admission.find(head.host) ?? null;
    if ('code' in admitted) {
      this.#refuse(admitted);
      return;
    }
    this.#name = admitted;
    const length = head.chunked ? -1 : (head.contentLength ?? 0);
    if (length > options.limits.bodyBytes) this.#refuse(this.#tooLarge());
    else if (length > 0 && length <= HELD_BYTES) this.#readBody(length);
    else this.#enter();
  }

  abandon(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { options } = this.#passage;
    this.#held?.abandon();
    this.#carried?.abandon();
    if (this.#reaching !== null) clearTimeout(this.#reaching);
    this.#name?.end(this);
    this.#leaveQueue?.();
    for (const leave of this.#leaves.splice(0)) leave();
    options.metrics.requestEnded();
    const { res, head } = this.#incoming;
    const milliseconds = options.now() - this.#begun;
    const status = res.headersSent ? res.statusCode : null;
    if (this.#refused === undefined && status !== null)
      options.metrics.answered(status, milliseconds / 1_000, this.#bytes);
    options.access.write({
      time: this.#time,
      host: head.host,
      method: this.method,
      path: this.path,
      status,
      bytes: this.#bytes,
      milliseconds,
      client: this.#client.address,
      requestId: this.#requestId,
      refused: this.#refused,
    });
  }

  isIdle(): boolean {
    const { req, res } = this.#incoming;
    if (this.#passage.options.now() - this.#stirredAt < IDLE_MILLISECONDS) return false;
    return res.writableLength > 0 || (!req.complete && !res.headersSent);
  }

  giveWay(refusal: Refusal): void {
    this.#end(refusal);
  }

  revoke(): void {
    this.#end({ code: 'not_found' });
  }

  /** Before its turn came, or after: an answer that has begun is cut off. */
  #end(refusal: Refusal): void {
    if (this.#isOver) return;
    if (this.#carried !== null) this.#carried.abort(refusal);
    else if (!this.#incoming.res.headersSent) this.#refuse(refusal);
  }

  #refuse(refusal: Refusal): void {
    const { options, pace } = this.#passage;
    if (this.#held !== null || this.#incoming.res.headersSent) return;
    this.#leaveQueue?.();
    for (const leave of this.#leaves.splice(0)) leave();
    this.#count(refusal);
    options.metrics.refused(refusal.code);
    const send = () => void sendProblem(this.#incoming.res, refusal, { requestId: this.#requestId });
    this.#held = hold(pace(this.#client, refusal), send);
  }

  #count({ code }: Refusal): void {
    this.#refused = code;
    if (this.#name !== null) this.#passage.options.traffic.refused(this.#name.hostname, code);
  }

  #tooLarge(): Refusal {
    return {
      code: 'payload_too_large',
      detail: `The body may have at most ${this.#passage.options.limits.bodyBytes} bytes.`,
    };
  }

  /** Waits for a short body, without a place among the requests of the installation. */
  #readBody(length: number): void {
    const { req, res, expectsContinue } = this.#incoming;
    const giveBack = this.#passage.bodies.take(this.network, length);
    if (giveBack === null) {
      this.#refuse({ code: 'concurrency_limited', detail: 'Too many bodies are arriving.', retryAfter: 1 });
      return;
    }
    this.#leaves.push(giveBack);
    if (expectsContinue) res.writeContinue();
    readBody(req, { limit: length, milliseconds: contractLimits.bodySeconds.value * 1_000 }).then(
      (body) => this.#enter(body),
      (error: unknown) => {
        if (!this.#isOver && error instanceof RefusalError) this.#refuse(error.refusal);
      },
    );
  }

  /** Takes its place among the requests of its installation, and waits for its turn at the node. */
  #enter(body?: Buffer): void {
    const name = this.#name;
    if (this.#isOver || name === null) return;
    // The route may have gone while the body arrived.
    if (!name.passes(this.method, this.path)) {
      this.#refuse({ code: 'not_found' });
      return;
    }
    const leave = this.#passage.admission.places.take(name.installationId, this);
    if (typeof leave !== 'function') {
      this.#refuse(leave);
      return;
    }
    this.#leaves.push(leave);
    name.begin(this);
    const { nodes } = this.#passage.options;
    const queue = name.nodeId === null ? undefined : nodes.find(name.nodeId)?.queue;
    if (queue === undefined) this.#refuse(NOT_REACHED);
    else this.#leaveQueue = queue.enter(name.installationId, () => this.#carry(name, body));
  }

  #carry(name: PublicName, body: Buffer | undefined): void {
    if (this.#isOver || this.#held !== null) return;
    const { nodes, traffic, log, metrics } = this.#passage.options;
    // It may have moved while the request waited.
    const node = name.nodeId === null ? undefined : nodes.find(name.nodeId);
    if (node === undefined) {
      this.#refuse(NOT_REACHED);
      return;
    }
    traffic.passed(name.hostname);
    this.#reaching = setTimeout(() => this.#carried?.abort(NOT_REACHED), REACH_MILLISECONDS);
    if (body === undefined) this.#watchUpload();
    this.#carried = carry(this.#incoming, {
      upstream: upstreamOf(node, this.#incoming, this.#client, {
        hostname: name.hostname,
        requestId: this.#requestId,
        onFailure: ({ code, reason, requestId }) => {
          metrics.nodeFailed();
          log.warn(
            { hostname: name.hostname, nodeId: name.nodeId, code, reason, requestId },
            'a public request failed',
          );
        },
      }),
      ...(body === undefined ? {} : { body }),
      tap: this,
      refuse: (res, refusal) => {
        const told = !this.#isSent && refusal.code.startsWith('upstream_') ? NOT_REACHED : refusal;
        this.#count(told);
        metrics.refused(told.code);
        return sendProblem(res, told, { requestId: this.#requestId });
      },
    });
  }

  /** Of a body that passes as it arrives: how fast it comes, and how long it gets. */
  #watchUpload(): void {
    const { req, res, head } = this.#incoming;
    if (!head.chunked && (head.contentLength ?? 0) === 0) return;
    requireUploadRate(req, res, contractLimits.uploadRate.value);
    let bytes = 0;
    req.on('data', (chunk: Buffer) => {
      this.#stirredAt = this.#passage.options.now();
      bytes += chunk.length;
      if (bytes > this.#passage.options.limits.bodyBytes) this.#carried?.abort(this.#tooLarge());
    });
  }

  sent(): void {
    this.#isSent = true;
    if (this.#reaching !== null) clearTimeout(this.#reaching);
  }

  head(status: number, headers: IncomingHttpHeaders): void {
    this.#requestId = requestIdOf(headers) ?? this.#requestId;
    if (isNodeRefusal(status, headers)) this.#carried?.abort(NOT_REACHED);
  }

  chunk(bytes: Buffer): void {
    this.#bytes += bytes.length;
    this.#stirredAt = this.#passage.options.now();
  }

  /** The connection to the node is free again, though the client may still be reading. */
  end(): void {
    this.#leaveQueue?.();
  }
}
