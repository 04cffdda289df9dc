// What a public request and a public WebSocket share: both are admitted or refused, take a place and a turn, are carried to
// the node of their name, and are logged when they are over. What differs is in public-request.ts and public-socket.ts.
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { clientNetwork, errors, type Refusal } from '@platform/contract';
import {
  type Abandonable,
  type AcceptedRequest,
  type Carried,
  type Carrying,
  hold,
  sendProblem,
  type Tap,
} from '@platform/http';
import type { Client } from './client-address.ts';
import type { Passage } from './front.ts';
import { REACH_MILLISECONDS, SETTLE_MILLISECONDS } from './limits.ts';
import type { NodeLink } from './node-links.ts';
import type { AtNode, NodeWatch } from './node-watch.ts';
import type { Occupant } from './places.ts';
import type { PublicName, UnderWay } from './topology.ts';
import { NOT_REACHED, nodeRefusal, requestIdOf, SILENT, UNKNOWN_AT_NODE, upstreamOf } from './upstream.ts';

/** Where an exchange goes, and how it is refused on the way. */
export type Way = Pick<Carrying, 'upstream' | 'refuse'>;

export abstract class PublicExchange<Incoming extends AcceptedRequest> implements AtNode, Occupant, UnderWay, Tap {
  readonly method: string;
  readonly path: string;
  readonly network: string;
  protected readonly passage: Passage;
  protected readonly begunAt: number;
  protected requestId: string = randomUUID();
  readonly #host: string;
  readonly #verb: string;
  /** `null` once it is not needed any more. */
  #incoming: Incoming | null;
  readonly #client: Client;
  readonly #time: Date;
  /** What its host stands for, also where it may not pass. */
  #name: PublicName | undefined;
  /** What gives back a place or bytes, each once. */
  readonly #leaves: (() => void)[] = [];
  #leaveQueue: (() => void) | null = null;
  #carried: Carried | null = null;
  #reaching: NodeJS.Timeout | undefined;
  #watch: NodeWatch | null = null;
  #isSent = false;
  isAnswered = false;
  #refused: Refusal['code'] | undefined;
  /** Answers what the node does not know as the topology says in the meantime. */
  #settle: ((refusal: Refusal) => void) | null = null;
  #held: Abandonable | null = null;
  #isOver = false;
  /** Of a refusal that was sent. */
  protected refusalStatus: number | null = null;

  constructor(passage: Passage, incoming: Incoming, connection: Client, method: string) {
    this.passage = passage;
    this.method = method;
    this.path = incoming.path;
    this.#host = incoming.head.host;
    this.#verb = incoming.req.method ?? '';
    this.#incoming = incoming;
    this.#client = passage.readClient(connection, incoming.req.headers);
    this.network = clientNetwork(this.#client.address);
    this.begunAt = passage.options.now();
    this.#time = passage.options.clock();
  }

  abstract isIdle(): boolean;

  /** Starts the exchange with the node. */
  protected abstract carry(incoming: Incoming, way: Way): Carried;

  /** Answers a request that was never carried. */
  protected abstract answerRefused(refusal: Refusal): void;

  /** Whether it takes part no more: the answer is a refusal, or it is over. */
  protected get hasEnded(): boolean {
    return this.#isOver || this.#refused !== undefined;
  }

  protected get isRefused(): boolean {
    return this.#refused !== undefined;
  }

  /** @returns whether it may pass; otherwise it is refused */
  protected admit(): boolean {
    const { admission } = this.passage;
    this.#name = admission.find(this.#host);
    const refusal = admission.refusalOf(this.#name, this);
    if (refusal === null) this.#name?.begin(this);
    else this.refuse(refusal);
    return refusal === null;
  }

  /** Has something given back when this is refused or over. */
  protected keep(giveBack: () => void): void {
    this.#leaves.push(giveBack);
  }

  /** Takes its place among the requests of its installation, waits for its turn at the node, and is carried there. */
  protected enter(): void {
    const name = this.#name;
    if (this.hasEnded || name === undefined) return;
    const leave = this.passage.admission.places.take(name.owner, this);
    if (typeof leave !== 'function') {
      this.refuse(leave);
      return;
    }
    this.keep(leave);
    const queue = this.#nodeOf(name)?.queue;
    if (queue === undefined) this.refuse(NOT_REACHED);
    else this.#leaveQueue = queue.enter(name.owner, () => this.#carry(name));
  }

  #carry(name: PublicName): void {
    const incoming = this.#incoming;
    if (this.hasEnded || incoming === null) return;
    // It may have moved while this waited.
    const node = this.#nodeOf(name);
    if (node === undefined) {
      this.refuse(NOT_REACHED);
      return;
    }
    const { traffic, log, metrics } = this.passage.options;
    traffic.passed(name.hostname);
    this.#watch = node.watch;
    node.watch.begin(this);
    this.#reaching = setTimeout(() => this.#carried?.abort(NOT_REACHED), REACH_MILLISECONDS);
    this.#carried = this.carry(incoming, {
      upstream: upstreamOf(node, incoming, this.#client, {
        name,
        requestId: this.requestId,
        onFailure: ({ code, reason, requestId }) => {
          metrics.nodeFailed();
          const { hostname, nodeId } = name;
          log.warn({ hostname, nodeId, method: this.method, code, reason, requestId }, 'a public request failed');
        },
      }),
      refuse: (res, refusal) => this.#refuseCarried(res, refusal),
    });
  }

  #nodeOf({ nodeId }: PublicName): NodeLink | undefined {
    return nodeId === null ? undefined : this.passage.options.nodes.find(nodeId);
  }

  sent(): void {
    this.#isSent = true;
    clearTimeout(this.#reaching);
  }

  head(status: number, headers: IncomingHttpHeaders): void {
    this.isAnswered = true;
    this.heard();
    this.requestId = requestIdOf(headers) ?? this.requestId;
    const refusal = nodeRefusal(status, headers, this.#name);
    if (refusal !== null) this.#carried?.abort(refusal);
  }

  /** The node sent something. */
  protected heard(): void {
    this.#watch?.heard();
  }

  lose(): void {
    // Until a connection stands, `#reaching` limits the wait.
    if (!this.#isSent || this.hasEnded) return;
    const { log, metrics } = this.passage.options;
    metrics.nodeFailed();
    const { hostname, nodeId } = this.#name ?? {};
    log.warn({ hostname, nodeId, method: this.method, reason: SILENT }, 'a public request failed');
    this.giveWay(NOT_REACHED);
  }

  /** The node has sent everything. */
  protected leaveNode(): void {
    this.leaveTurn();
    this.#watch?.end(this);
  }

  /** A WebSocket may be open for hours. */
  protected forgetRequest(): void {
    this.#incoming = null;
  }

  /** The node has answered: others may have their turn. */
  protected leaveTurn(): void {
    this.isAnswered = true;
    clearTimeout(this.#reaching);
    this.#leaveQueue?.();
  }

  revoke(refusal: Refusal): void {
    if (this.#settle === null) this.giveWay(refusal);
    else this.#settle(refusal);
  }

  /** Before its turn came, or after: an answer that has begun is cut off. */
  giveWay(refusal: Refusal): void {
    if (this.#isOver) return;
    if (this.#carried === null) this.refuse(refusal);
    else this.#carried.abort(refusal);
  }

  /** In place of carrying it. Once. */
  protected refuse(refusal: Refusal): void {
    if (this.hasEnded) return;
    this.#giveBack();
    this.#count(refusal);
    this.#held = hold(this.passage.pace(this.#client, refusal), () => {
      this.refusalStatus = errors[refusal.code].status;
      this.answerRefused(refusal);
    });
  }

  /** In place of an answer of the node. */
  #refuseCarried(res: ServerResponse, refusal: Refusal): string {
    const answer = (shown: Refusal): void => {
      this.#held?.abandon();
      this.#settle = null;
      this.#count(shown);
      this.refusalStatus = errors[shown.code].status;
      sendProblem(res, shown, { requestId: this.requestId });
    };
    if (refusal === UNKNOWN_AT_NODE) {
      this.#settle = answer;
      this.#held = hold(SETTLE_MILLISECONDS, () => answer(refusal));
    } else answer(!this.#isSent && refusal.code.startsWith('upstream_') ? NOT_REACHED : refusal);
    return this.requestId;
  }

  #count({ code }: Refusal): void {
    const { traffic, metrics } = this.passage.options;
    this.#refused = code;
    metrics.refused(code);
    if (this.#name !== undefined) traffic.refused(this.#name.hostname, code);
  }

  #giveBack(): void {
    this.#leaveQueue?.();
    for (const leave of this.#leaves.splice(0)) leave();
  }

  /**
   * Ends what is under way, gives back what it held, and logs it. Once.
   *
   * @returns whether it was not over yet
   */
  protected finish({ status, bytes }: { readonly status: number | null; readonly bytes: number }): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#held?.abandon();
    this.#carried?.abandon();
    clearTimeout(this.#reaching);
    this.#watch?.end(this);
    this.#name?.end(this);
    this.#giveBack();
    const { access, now } = this.passage.options;
    access.write({
      time: this.#time,
      host: this.#host,
      method: this.#verb,
      path: this.path,
      status,
      bytes,
      milliseconds: now() - this.begunAt,
      client: this.#client.address,
      requestId: this.requestId,
      refused: this.#refused,
    });
    return true;
  }
}
