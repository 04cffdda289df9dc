// One public WebSocket, from its valid handshake to its end.
import type { IncomingHttpHeaders } from 'node:http';
import { limits, type Refusal, WEBSOCKET_METHOD } from '@platform/contract';
import {
  type CarriedUpgrade,
  carryUpgrade,
  type ExchangeEnd,
  endWithProblem,
  type IncomingUpgrade,
} from '@platform/http';
import type { Client } from './client-address.ts';
import { FrameBoundary, GOING_AWAY } from './closing-frame.ts';
import type { Passage } from './front.ts';
import { PublicExchange, type Way } from './public-exchange.ts';

const SWITCHED = 101;

export class PublicSocket extends PublicExchange<IncomingUpgrade> {
  readonly #client: IncomingUpgrade['socket'];
  readonly #boundary = new FrameBoundary();
  #socket: CarriedUpgrade | null = null;
  /** Of the node's answer; `null` before it. */
  #status: number | null = null;

  constructor(passage: Passage, incoming: IncomingUpgrade, connection: Client) {
    super(passage, incoming, connection, WEBSOCKET_METHOD);
    this.#client = incoming.socket;
  }

  begin(): void {
    const { sockets } = this.passage;
    sockets.add(this);
    this.#client.once('close', () => {
      sockets.delete(this);
      this.finish({ status: this.refusalStatus ?? this.#status, bytes: this.#client.bytesWritten });
      if (this.#status === SWITCHED) this.passage.options.metrics.webSocketClosed();
    });
    if (this.admit()) this.enter();
  }

  /** It may be silent for minutes, so nothing says whether anybody is there. */
  isIdle(): boolean {
    return this.#status === SWITCHED;
  }

  /** The Ingress stops: says so where a frame may begin. */
  goAway(): void {
    if (this.#status !== SWITCHED) return;
    if (this.#boundary.isAt) this.#socket?.close(GOING_AWAY);
    else this.#client.destroySoon();
  }

  /** The backend declined. */
  override head(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    super.head(status, headers);
  }

  chunk(bytes: Buffer): void {
    this.heard();
    if (this.#status === SWITCHED) this.#boundary.passed(bytes);
  }

  end(how: ExchangeEnd): void {
    this.leaveTurn();
    if (how !== 'complete' || this.#status !== null) return;
    this.#status = SWITCHED;
    this.forgetRequest();
    this.passage.options.metrics.webSocketOpened();
  }

  protected answerRefused(refusal: Refusal): void {
    endWithProblem(this.#client, refusal, this.requestId);
  }

  protected carry(incoming: IncomingUpgrade, way: Way): CarriedUpgrade {
    const idleMilliseconds = limits.webSocketIdleSeconds.value * 1_000;
    this.#socket = carryUpgrade(incoming, { ...way, tap: this, idleMilliseconds });
    return this.#socket;
  }
}
