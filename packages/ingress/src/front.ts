// The front of the Ingress: what becomes of a public request once its head is accepted, whichever listener it came by.
// Listeners read requests (listener.ts: HTTP/1.1); what they give to the front is carried to a node, or refused.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { clientNetwork, errors, publicHostname, type Refusal, WEBSOCKET_METHOD } from '@platform/contract';
import { type Abandonable, type IncomingRequest, type IncomingUpgrade, openPaces, type Paces } from '@platform/http';
import type { AccessLog } from './access-log.ts';
import { Admission, type AdmissionOptions, NOT_CURRENT } from './admission.ts';
import { answerDoctorUpgrade, DoctorAnswers, type DoctorOptions } from './answer-doctor.ts';
import { type Client, clientReader, type ReadClient } from './client-address.ts';
import { HeldBodies } from './held-bodies.ts';
import type { Log } from './log.ts';
import type { IngressMetrics } from './metrics-port.ts';
import type { NodeLinks } from './node-links.ts';
import { PublicRequest } from './public-request.ts';
import { PublicSocket } from './public-socket.ts';
import type { Traffic } from './traffic.ts';

export interface FrontOptions extends AdmissionOptions {
  readonly nodes: NodeLinks;
  readonly traffic: Traffic;
  readonly access: AccessLog;
  readonly log: Log;
  readonly metrics: IngressMetrics;
  readonly trustedProxies: readonly string[];
  readonly clock: () => Date;
  /** Whether a host is one under which this Ingress answers `platform doctor`. */
  isDoctor(host: string): boolean;
  readonly doctor: Omit<DoctorOptions, 'readClient'>;
}

/** What requests and WebSockets share. */
export interface Passage {
  readonly admission: Admission;
  readonly bodies: HeldBodies;
  readonly options: FrontOptions;
  /** Who the client is, of an address and protocol as the connection shows them. */
  readonly readClient: ReadClient;
  /** Milliseconds to hold back a refusal of this client. */
  pace(client: Client, refusal: Refusal): number;
  /** They end when the Ingress does. */
  readonly sockets: Set<PublicSocket>;
}

const REFUSALS_PER_SECOND = 20;

export class Front {
  readonly #passage: Passage;
  readonly #paces: Paces;
  readonly #doctor: DoctorAnswers;

  constructor(options: FrontOptions) {
    const paces = openPaces(options.now, REFUSALS_PER_SECOND);
    this.#paces = paces;
    this.#passage = {
      admission: new Admission(options),
      bodies: new HeldBodies(),
      options,
      readClient: clientReader(options.trustedProxies),
      pace: ({ address }, { code }) => (errors[code].status >= 500 ? 0 : paces.next(clientNetwork(address))),
      sockets: new Set(),
    };
    this.#doctor = new DoctorAnswers({ ...options.doctor, readClient: this.#passage.readClient });
  }

  /** For `StrictServerOptions`: whether this `Host` is a public name. */
  isOwnHost(host: string): boolean {
    return this.#passage.admission.isOwnHost(host) || this.#passage.options.isDoctor(host);
  }

  /** For `StrictServerOptions`: whether a WebSocket is open at the path of a request. */
  hasWebSocket(req: IncomingMessage): boolean {
    const name = this.#passage.admission.find(req.headers.host ?? '');
    return name?.passes(WEBSOCKET_METHOD, (req.url ?? '').split('?', 1)[0] ?? '') ?? false;
  }

  /**
   * Carries a request to a node, or refuses it.
   *
   * @param connection the address and protocol of the connection that it came by
   * @returns what is called once the answer is over, however it ended
   */
  receive(incoming: IncomingRequest, connection: Client): Abandonable | null {
    if (this.#passage.options.isDoctor(incoming.head.host)) return this.#doctor.answer(incoming, connection);
    const request = new PublicRequest(this.#passage, incoming, connection);
    request.begin();
    return request;
  }

  /** Takes a valid WebSocket handshake to its app. */
  receiveUpgrade(incoming: IncomingUpgrade, connection: Client): void {
    if (this.#passage.options.isDoctor(incoming.head.host)) answerDoctorUpgrade(incoming);
    else new PublicSocket(this.#passage, incoming, connection).begin();
  }

  /**
   * A listener refused bytes that never became a request for the front: for the log and the figures.
   *
   * @param req `null` where the bytes are none
   */
  refused(refusal: Refusal, connection: Client, req: IncomingMessage | null): void {
    const { options, readClient, admission } = this.#passage;
    const host = req?.headers.host ?? '';
    const client = req === null ? connection : readClient(connection, req.headers);
    options.metrics.refused(refusal.code);
    if (admission.find(host) !== undefined) options.traffic.refused(publicHostname(host), refusal.code);
    options.access.write({
      time: options.clock(),
      host: host.slice(0, MOST_LOGGED),
      method: req?.method ?? '',
      path: (req?.url ?? '').split('?', 1)[0]?.slice(0, MOST_LOGGED) ?? '',
      status: errors[refusal.code].status,
      bytes: 0,
      milliseconds: 0,
      client: client.address,
      requestId: randomUUID(),
      refused: refusal.code,
    });
  }

  /** Milliseconds to hold back a refusal that a listener gives (`StrictServerOptions.paceRefusals`). */
  paceRefusals(connection: Client, refusals: number): number {
    // All clients of a proxy have its address; it limits them itself.
    if (this.#passage.options.trustedProxies.length > 0) return 0;
    return this.#paces.next(clientNetwork(connection.address), refusals);
  }

  /** Ends every WebSocket. */
  endSockets(): void {
    for (const socket of this.#passage.sockets) socket.goAway();
  }

  /** Ends what is under way: what is known is too old to go by. */
  cutOff(): void {
    for (const name of this.#passage.options.topology.names()) name.endAll(NOT_CURRENT);
  }
}

/** Characters of what a stranger sent, in the log. */
const MOST_LOGGED = 2_048;
