// One public WebSocket, from its valid handshake to its end.
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { clientNetwork, type Refusal } from '@platform/contract';
import {
  type CarriedUpgrade,
  carryUpgrade,
  endWithProblem,
  hold,
  type IncomingUpgrade,
  sendProblem,
} from '@platform/http';
import type { Client } from './client-address.ts';
import { FrameBoundary, GOING_AWAY } from './closing-frame.ts';
import type { Passage } from './front.ts';
import { REACH_MILLISECONDS, WEBSOCKET_IDLE_MILLISECONDS } from './limits.ts';
import type { Occupant } from './places.ts';
import type { PublicName, UnderWay } from './topology.ts';
import { isNodeRefusal, NOT_REACHED, requestIdOf, upstreamOf } from './upstream.ts';

const SWITCHED = 101;

export class PublicSocket implements Occupant, UnderWay {
  readonly method = 'WS';
  readonly path: string;
  readonly network: string;
  readonly #passage: Passage;
  readonly #incoming: IncomingUpgrade;
  readonly #client: Client;
  readonly #begun: number;
  readonly #time: Date;
  #requestId: string = randomUUID();
  #name: PublicName | null = null;
  readonly #boundary = new FrameBoundary();
  readonly #leaves: (() => void)[] = [];
  #leaveQueue: (() => void) | null = null;
  #carried: CarriedUpgrade | null = null;
  #reaching: NodeJS.Timeout | null = null;
  #isSent = false;
  #isOver = false;
  #status: number | null = null;
  #refused: Refusal['code'] | undefined;

  constructor(passage: Passage, incoming: IncomingUpgrade, connection: Client) {
    this.path = incoming.path;
    this.#passage = passage;
    this.#incoming = incoming;
    this.#client = passage.readClient(connection, incoming.req.headers);
    this.network = clientNetwork(this.#client.address);
    this.#begun = passage.options.now();
    this.#time = passage.options.clock();
  }

  begin(): void {
    const { admission, options } = this.#passage;
    const { head, socket } = this.#incoming;
    socket.once('close', () => this.#close());
    const { method, path } = this;
    const admitted = admission.admit({ host: head.host, method, path, client: this.#client });
    this.#name = admission.find(head.host) ?? null;
    if ('code' in admitted) {
      this.#refuse(admitted);
      return;
    }
    const leave = admission.places.take(admitted.installationId, this);
    if (typeof leave !== 'function') {
      this.#refuse(leave);
      return;
    }
    this.#leaves.push(leave);
    admitted.begin(this);
    this.#passage.sockets.add(this);
    const queue = admitted.nodeId === null ? undefined : options.nodes.find(admitted.nodeId)?.queue;
    if (queue === undefined) {
      this.#refuse(NOT_REACHED);
      return;
    }
    this.#leaveQueue = queue.enter(admitted.installationId, () => this.#carry(admitted));
  }

  /** It may be silent for minutes, so nothing says whether anybody is there. */
  isIdle(): boolean {
    return this.#status === SWITCHED;
  }

  giveWay(refusal: Refusal): void {
    this.#end(refusal);
  }

  revoke(): void {
    this.#end({ code: 'not_found' });
  }

  /** The Ingress stops: says so where a frame may begin. */
  end(): void {
    if (this.#status !== SWITCHED) return;
    if (this.#boundary.isAt) this.#carried?.close(GOING_AWAY);
    else this.#incoming.socket.destroySoon();
  }

  #end(refusal: Refusal): void {
    if (this.#isOver) return;
    if (this.#carried === null) this.#refuse(refusal);
    else this.#carried.abort(refusal);
  }

  #refuse(refusal: Refusal): void {
    const { pace } = this.#passage;
    this.#count(refusal);
    this.#leaveQueue?.();
    hold(pace(this.#client, refusal), () => endWithProblem(this.#incoming.socket, refusal, this.#requestId));
  }

  #count({ code }: Refusal): void {
    const { traffic, metrics } = this.#passage.options;
    this.#refused = code;
    metrics.refused(code);
    if (this.#name !== null) traffic.refused(this.#name.hostname, code);
  }

  #carry(name: PublicName): void {
    if (this.#isOver || this.#refused !== undefined) return;
    const { nodes, traffic, log, metrics } = this.#passage.options;
    const node = name.nodeId === null ? undefined : nodes.find(name.nodeId);
    if (node === undefined) {
      this.#refuse(NOT_REACHED);
      return;
    }
    traffic.passed(name.hostname);
    this.#reaching = setTimeout(() => this.#carried?.abort(NOT_REACHED), REACH_MILLISECONDS);
    this.#carried = carryUpgrade(this.#incoming, {
      upstream: upstreamOf(node, this.#incoming, this.#client, {
        hostname: name.hostname,
        requestId: this.#requestId,
        onFailure: ({ code, reason, requestId }) => {
          metrics.nodeFailed();
          log.warn(
            { hostname: name.hostname, nodeId: name.nodeId, code, reason, requestId },
            'a public WebSocket failed',
          );
        },
      }),
      idleMilliseconds: WEBSOCKET_IDLE_MILLISECONDS,
      tap: {
        sent: () => {
          this.#isSent = true;
          this.#stopReaching();
        },
        head: (status, headers) => this.#answered(status, headers),
        chunk: (bytes) => {
          if (this.#status === SWITCHED) this.#boundary.passed(bytes);
        },
        end: (how) => {
          this.#stopReaching();
          this.#leaveQueue?.();
          if (how !== 'complete' || this.#status !== null) return;
          this.#status = SWITCHED;
          metrics.webSocketOpened();
        },
      },
      refuse: (res, refusal) => {
        const told = !this.#isSent && refusal.code.startsWith('upstream_') ? NOT_REACHED : refusal;
        this.#count(told);
        return sendProblem(res, told, { requestId: this.#requestId });
      },
    });
  }

  /** The backend declined. */
  #answered(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#requestId = requestIdOf(headers) ?? this.#requestId;
    if (isNodeRefusal(status, headers)) this.#carried?.abort(NOT_REACHED);
  }

  #stopReaching(): void {
    if (this.#reaching !== null) clearTimeout(this.#reaching);
  }

  #close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { options, sockets } = this.#passage;
    this.#stopReaching();
    this.#name?.end(this);
    this.#leaveQueue?.();
    for (const leave of this.#leaves.splice(0)) leave();
    sockets.delete(this);
    if (this.#status === SWITCHED) options.metrics.webSocketClosed();
    const { head, socket } = this.#incoming;
    options.access.write({
      time: this.#time,
      host: head.host,
      method: 'GET',
      path: this.path,
      status: this.#status,
      bytes: socket.bytesWritten,
      milliseconds: options.now() - this.#begun,
      client: this.#client.address,
      requestId: this.#requestId,
      refused: this.#refused,
    });
  }
}
