// A part's place on iroh: one UDP port under its link key. Connections are made from either side, and each side may then
// open streams on them, so that a part behind NAT is reached over the connection that it keeps to the other.
import { EventEmitter, once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { clientNetwork } from '@platform/contract';
import { type LinkKey, publicKeyText, seedOf } from '../../key.ts';
import { defaultLimits, type LinkLimits, OpenConnections } from '../../open-connections.ts';
import { setLinkPeer } from '../../peer.ts';
import type { IrohAddress } from './address.ts';
import { IrohConnection } from './connection.ts';
import {
  type Connection,
  type Endpoint,
  type Incoming,
  loadIroh,
  type Native,
  numbersOf,
  plainError,
} from './native.ts';
import type { IrohSocket } from './socket.ts';

export interface IrohOptions {
  readonly key: LinkKey;
  /** UDP address and port. Default: every address of the machine, a free port. */
  readonly listen?: { readonly host: string; readonly port: number };
  /** A relay for machines that cannot reach each other, by URL. Default: none, and none is ever used. */
  readonly relay?: string | null | undefined;
}

/** What this part offers to those that connect, or takes from them. */
export interface IrohService {
  /** Of the address: `control`, for instance. */
  readonly name: string;
  /** Answers on the streams that the other side opens. Default: it may open none; it is connected to, over its own connection. */
  readonly server?: Server;
  /** Whether a part with this key may connect. What it throws ends the connection. */
  readonly isKnown: (key: Buffer) => boolean | Promise<boolean>;
  /** As of `acceptLinks`. Default `refused`. */
  readonly strangers?: 'refused' | 'served';
  readonly limits?: Partial<LinkLimits>;
}

export interface IrohListener {
  /** Ends the connections whose keys are not known any more. */
  recheck(): Promise<void>;
  /** Takes no new connections and ends those that are open. */
  close(): void;
}

/** A connection to another part that is made again whenever it ends. */
export interface KeptLink {
  /** Resolves when it first stands. */
  readonly connected: Promise<void>;
  stop(): void;
}

interface Offer extends IrohService {
  readonly limits: LinkLimits;
  readonly open: OpenConnections;
}

const PROTOCOL = 'platform-link/1/';
const HANDSHAKE_MILLISECONDS = 10_000;
/** Handshakes under way, beyond which the sender of a packet must first show that it is at its address. */
const UNVALIDATED_HANDSHAKES = 64;
const HANDSHAKES = 1_024;
const CONNECTIONS_OF_KEY = 64;
const WINDOW_BYTES = 64 * 1024 * 1024;
const STRANGER_WINDOW_BYTES = 1024 * 1024;
const DIAL_MILLISECONDS = 2_000;
const REDIAL_MILLISECONDS = 500;
/** A connection that was made here and carries nothing ends. */
const UNUSED_MILLISECONDS = 60_000;

export class IrohEndpoint {
  readonly #native: Native;
  readonly #endpoint: Endpoint;
  readonly #relay: string | null;
  readonly #offers = new Map<string, Offer>();
  /** The newest last; by service and key. */
  readonly #connections = new Map<string, IrohConnection[]>();
  readonly #dials = new Map<string, Promise<IrohConnection>>();
  readonly #arrivals = new EventEmitter().setMaxListeners(0);
  readonly #closing = new AbortController();
  readonly #isSix: boolean;
  #handshakes = 0;

  private constructor(
    native: Native,
    endpoint: Endpoint,
    { relay = null, listen }: Pick<IrohOptions, 'relay' | 'listen'>,
  ) {
    this.#native = native;
    this.#isSix = listen?.host.includes(':') === true;
    this.#endpoint = endpoint;
    this.#relay = relay;
    void this.#accept();
  }

  /** @throws Error when the module does not run here, or the address cannot be bound */
  static async open({ key, listen, relay = null }: IrohOptions): Promise<IrohEndpoint> {
    const native = await loadIroh();
    const { Endpoint: EndpointClass, RelayMode } = native;
    const builder = EndpointClass.builder();
    // Others would ask public servers for addresses and relays.
    builder.applyMinimal();
    builder.relayMode(relay === null ? RelayMode.disabled() : RelayMode.customFromUrls([relay]));
    builder.secretKey(numbersOf(seedOf(key)));
    // Both families always: one that is not named is bound to every address.
    for (const address of bindAddresses(listen)) builder.bindAddr(address);
    try {
      return new IrohEndpoint(native, await builder.bind(), { relay, ...(listen === undefined ? {} : { listen }) });
    } catch (error) {
      throw plainError(error, 'EADDRINUSE');
    }
  }

  /** Of the address at which it is to listen. */
  get port(): number {
    const listening = this.#endpoint.boundSockets().find((place) => place.startsWith('[') === this.#isSix);
    return Number(/:(\d+)$/.exec(listening ?? '')?.[1]);
  }

  /** Takes connections for a service. */
  offer(service: IrohService): IrohListener {
    const limits = { ...defaultLimits, ...service.limits };
    const offer: Offer = { ...service, limits, open: new OpenConnections(limits) };
    this.#offers.set(service.name, offer);
    this.#advertise();
    const own = () =>
      [...this.#connections].filter(([name]) => name.startsWith(`${service.name} `)).flatMap(([, all]) => all);
    return {
      recheck: async () => {
        for (const connection of own()) if (!(await service.isKnown(connection.key))) connection.close();
        await offer.open.recheck(service.isKnown);
      },
      close: () => {
        this.#offers.delete(service.name);
        this.#advertise();
        offer.open.endAll();
        for (const connection of own()) connection.close();
      },
    };
  }

  /**
   * Keeps a connection to another part, which may then open streams for what is offered here under that name.
   *
   * @param find the address, asked for before each attempt
   */
  keep(find: () => IrohAddress | Promise<IrohAddress>): KeptLink {
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, this.#closing.signal]);
    const connected = Promise.withResolvers<void>();
    const run = async (): Promise<void> => {
      while (!signal.aborted) {
        const connection = await Promise.resolve()
          .then(find)
          .then((address) => this.#dial(address))
          .catch(() => null);
        if (connection !== null) {
          if (signal.aborted) connection.close();
          connected.resolve();
          const end = () => connection.close();
          signal.addEventListener('abort', end, { once: true });
          await connection.closed;
          signal.removeEventListener('abort', end);
        }
        await delay(REDIAL_MILLISECONDS, undefined, { signal }).catch(() => undefined);
      }
    };
    void run();
    return { connected: connected.promise, stop: () => stop.abort() };
  }

  /**
   * A stream to the part with this key, over a connection that is there, or one that is made. Without a place to go to, it
   * waits for the other side to connect.
   *
   * @throws Error when `signal` fires before there is a connection
   */
  async connect(address: IrohAddress, signal: AbortSignal): Promise<Socket> {
    signal.throwIfAborted();
    const connection = this.#find(address) ?? (await this.#reach(address, signal));
    const socket = await unlessAborted(connection.open(), signal, (late: IrohSocket) => late.destroy());
    return socket.asSocket();
  }

  /** Whether a part with this key is connected for the service. */
  isConnected(address: Pick<IrohAddress, 'key' | 'service'>): boolean {
    return this.#find(address) !== undefined;
  }

  /** As {@link probeLink}: over the connection that would be used. @throws Error when there is none, or no answer */
  async probe(address: Pick<IrohAddress, 'key' | 'service'>, signal: AbortSignal): Promise<void> {
    const connection = this.#find(address);
    if (connection === undefined) throw new Error(`${publicKeyText(address.key)} is not connected over iroh`);
    await connection.probe(signal);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    for (const all of this.#connections.values()) for (const connection of all) connection.close();
    await this.#endpoint.close();
  }

  #advertise(): void {
    this.#endpoint.setAlpns([...this.#offers.keys()].map(protocolOf));
  }

  #find(address: Pick<IrohAddress, 'key' | 'service'>): IrohConnection | undefined {
    return this.#connections.get(nameOf(address))?.findLast(({ answers }) => answers);
  }

  async #reach(address: IrohAddress, signal: AbortSignal): Promise<IrohConnection> {
    const arrived = new AbortController();
    const either = AbortSignal.any([signal, arrived.signal, this.#closing.signal]);
    try {
      const arrival = once(this.#arrivals, nameOf(address), { signal: either }).then(([one]) => one as IrohConnection);
      const ways = [arrival];
      if (address.direct.length > 0 || this.#relayOf(address) !== null) ways.push(this.#dial(address));
      return await unlessAborted(Promise.race(ways), either, () => undefined);
    } catch {
      throw Object.assign(new Error(`${publicKeyText(address.key)} is not connected over iroh`), { code: 'ENOTCONN' });
    } finally {
      arrived.abort();
    }
  }

  /** A relay that the other side names is used only if this one is configured for it. */
  #relayOf({ relay }: IrohAddress): string | null {
    return relay === this.#relay ? relay : null;
  }

  #dial(address: IrohAddress): Promise<IrohConnection> {
    const name = nameOf(address);
    const underWay = this.#dials.get(name);
    if (underWay !== undefined) return underWay;
    const dial = this.#dialOnce(address).finally(() => this.#dials.delete(name));
    this.#dials.set(name, dial);
    return dial;
  }

  async #dialOnce(address: IrohAddress): Promise<IrohConnection> {
    const { EndpointAddr, EndpointId } = this.#native;
    const offer = this.#offers.get(address.service);
    // The other side may open streams here as if it had connected itself.
    if (offer !== undefined && !(await offer.isKnown(address.key))) throw new Error('the key is not known here');
    const id = EndpointId.fromBytes(numbersOf(address.key));
    const where = new EndpointAddr(id, this.#relayOf(address), [...address.direct]);
    const connection = await unlessAborted(
      this.#endpoint.connect(where, protocolOf(address.service)),
      AbortSignal.any([this.#closing.signal, AbortSignal.timeout(DIAL_MILLISECONDS)]),
      (late: Connection) => late.close(0n, []),
    ).catch((error: unknown) => {
      throw plainError(error, 'ECONNREFUSED');
    });
    const made = this.#begin(connection, { offer, service: address.service, known: true });
    const unused = setInterval(() => made.size === 0 && offer === undefined && made.close(), UNUSED_MILLISECONDS);
    void made.closed.then(() => clearInterval(unused));
    return made;
  }

  async #accept(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      const incoming = await this.#endpoint.acceptNext().catch(() => null);
      if (incoming === null) return;
      void this.#take(incoming).catch(() => undefined);
    }
  }

  async #take(incoming: Incoming): Promise<void> {
    const validated = await incoming.remoteAddrValidated();
    if (this.#handshakes >= HANDSHAKES) return incoming.refuse();
    // A flood from forged addresses costs no more than this answer.
    if (this.#handshakes >= UNVALIDATED_HANDSHAKES && !validated) return incoming.retry();
    const { addr = '' } = await incoming.remoteAddr();
    this.#handshakes += 1;
    let native: Connection;
    try {
      const handshake = incoming.accept().then((accepting) => accepting.connect());
      const limit = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(HANDSHAKE_MILLISECONDS)]);
      native = await unlessAborted(handshake, limit, (late: Connection) => late.close(0n, []));
    } finally {
      this.#handshakes -= 1;
    }
    const service = Buffer.from(native.alpn()).toString('latin1').slice(PROTOCOL.length);
    const offer = this.#offers.get(service);
    if (offer === undefined) native.close(0n, []);
    else await this.#admit(native, offer, addr);
  }

  /** Counted as a stranger until its key is known. */
  async #admit(native: Connection, offer: Offer, place: string): Promise<void> {
    const network = clientNetwork(place.replace(/:\d+$/, '').replace(/^\[|\]$/g, ''));
    const counted = offer.open.add({ destroy: () => native.close(0n, []) }, network);
    void native.closed().finally(() => offer.open.remove(counted));
    const key = Buffer.from(native.remoteId().toBytes());
    try {
      const known = await offer.isKnown(key);
      if (native.closeReason() !== null) return;
      const ofKey = this.#connections.get(nameOf({ service: offer.name, key }))?.length ?? 0;
      const refused = known ? ofKey >= CONNECTIONS_OF_KEY : offer.strangers !== 'served';
      if (refused) native.close(0n, []);
      else {
        if (known) offer.open.remove(counted);
        this.#begin(native, { offer, service: offer.name, known });
      }
    } catch {
      native.close(0n, []);
    }
  }

  #begin(
    native: Connection,
    { offer, service, known }: { readonly offer: Offer | undefined; readonly service: string; readonly known: boolean },
  ): IrohConnection {
    const server = offer?.server;
    const made = new IrohConnection(native, {
      streams: offer?.limits.ofKey ?? 0,
      windowBytes: known ? WINDOW_BYTES : STRANGER_WINDOW_BYTES,
      onStream: server === undefined ? undefined : (socket) => serve(socket, { offer, server, key: made.key, known }),
    });
    if (!known) return made;
    const name = nameOf({ service, key: made.key });
    const all = this.#connections.get(name) ?? [];
    this.#connections.set(name, [...all, made]);
    void made.closed.then(() => {
      const left = this.#connections.get(name)?.filter((one) => one !== made) ?? [];
      if (left.length === 0) this.#connections.delete(name);
      else this.#connections.set(name, left);
    });
    this.#arrivals.emit(name, made);
    return made;
  }
}

/** Hands a stream to the server, if its key has not too many. */
function serve(
  socket: IrohSocket,
  {
    offer,
    server,
    key,
    known,
  }: { readonly offer: Offer | undefined; readonly server: Server; readonly key: Buffer; readonly known: boolean },
): void {
  socket.on('error', () => socket.destroy());
  if (offer === undefined || !count(socket, offer, { key, known })) {
    socket.destroy();
    return;
  }
  setLinkPeer(socket.asSocket(), { key, known });
  server.emit('connection', socket);
}

function count(
  socket: IrohSocket,
  { open }: Offer,
  { key, known }: { readonly key: Buffer; readonly known: boolean },
): boolean {
  // A stranger's streams end with its connection, which is counted.
  if (!known) return true;
  const counted = open.add(socket, clientNetwork(socket.remoteAddress));
  counted.key = key.toString('base64url');
  socket.once('close', () => open.remove(counted));
  return open.promote(counted);
}

function nameOf({ service, key }: Pick<IrohAddress, 'key' | 'service'>): string {
  return `${service} ${key.toString('base64url')}`;
}

function protocolOf(service: string): number[] {
  return numbersOf(Buffer.from(`${PROTOCOL}${service}`, 'latin1'));
}

function bindAddresses(listen: IrohOptions['listen']): readonly string[] {
  if (listen === undefined) return ['0.0.0.0:0', '[::]:0'];
  const { host, port } = listen;
  return host.includes(':') ? [`[${host}]:${port}`, '127.0.0.1:0'] : [`${host}:${port}`, '[::1]:0'];
}

/** What `late` gets came after the signal. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal, late: (value: T) => void): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } catch (error) {
    promise.then(late, () => undefined);
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
