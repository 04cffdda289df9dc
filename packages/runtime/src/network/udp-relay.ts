// A public UDP port of one workload: datagrams go in, and the answers to their senders come back. There is no other way
// through it: a workload can only answer who wrote to it, while that is fresh. docs/decisions/network.md says why it is not
// the kernel that translates addresses.
import dgram from 'node:dgram';
import { networkInterfaces } from 'node:os';

export interface UdpRelayOptions {
  /** Where this machine receives. */
  readonly address: string;
  readonly hostPort: number;
  /** Where the workload receives, as the sockets in its network see it. */
  readonly containerAddress: string;
  readonly containerPort: number;
  /** Opens bound sockets in the network of the workload. */
  makeSockets(count: number): Promise<dgram.Socket[]>;
}

export interface UdpRelay {
  /** Nothing passes any more when this returns. */
  close(): void;
}

/** Senders served at the same time; a further one takes the place of the one that was quiet the longest. */
export const MOST_SENDERS = 64;
/** Milliseconds after which a quiet sender is forgotten. */
const QUIET = 60_000;
const BATCH = 16;
const MOST_WAITING = 64;
/** Milliseconds between two batches of sockets of one port: making them starts a program, which strangers cause. */
export const BETWEEN_BATCHES = 250;
/** The same between those of all ports of this process. */
const BETWEEN_ALL = 50;
/** Bytes that wait in this process while a line is slower than who sends on it; what comes on top is lost. */
const MOST_UNSENT = 1_048_576;

let nextOfAll = 0;
/** The ports of all relays of this process. */
const relayed = new Set<number>();

interface Sender {
  readonly inner: dgram.Socket;
  /** What came before the inner socket was connected; undefined afterwards. */
  early: Buffer[] | undefined;
  /** By the monotonic clock. */
  seen: number;
}

/** @throws Error when the port of this machine cannot be used */
export async function openUdpRelay(options: UdpRelayOptions): Promise<UdpRelay> {
  // Answers go to addresses as they came in: there is no name to look up, which would take a turn of the event loop each.
  const outer = dgram.createSocket({ type: 'udp4', lookup: (address, _options, done) => done(null, address, 4) });
  await new Promise<void>((resolve, reject) => {
    outer.once('error', reject);
    outer.bind({ address: options.address, port: options.hostPort, exclusive: true }, resolve);
  });
  const senders = new Map<string, Sender>();
  const waiting: { readonly data: Buffer; readonly from: dgram.RemoteInfo }[] = [];
  let spare: dgram.Socket[] = [];
  let making = false;
  let nextBatch = 0;
  let turn: NodeJS.Timeout | undefined;
  let closed = false;

  function forget(key: string, sender: Sender): void {
    senders.delete(key);
    sender.inner.close();
  }

  function accept(data: Buffer, from: dgram.RemoteInfo): void {
    if (!canBeAnswered(from)) return;
    const key = `${from.address}:${from.port}`;
    const known = senders.get(key);
    if (known !== undefined) {
      known.seen = performance.now();
      if (known.early === undefined) sendUnlessFull(known.inner, data);
      else if (known.early.length < MOST_WAITING) known.early.push(data);
      return;
    }
    const inner = spare.pop();
    if (inner === undefined) {
      if (waiting.length < MOST_WAITING) waiting.push({ data, from });
      stock();
      return;
    }
    if (senders.size >= MOST_SENDERS) {
      const [quietest] = [...senders].toSorted(([, one], [, other]) => one.seen - other.seen);
      if (quietest !== undefined) forget(...quietest);
    }
    const sender: Sender = { inner, early: [data], seen: performance.now() };
    senders.set(key, sender);
    // A workload that does not listen refuses; the sender gets no answer, as for any closed port behind a router.
    // One whose socket cannot be connected is forgotten, with what waits for that.
    inner.on('error', () => {
      if (sender.early !== undefined && senders.get(key) === sender) forget(key, sender);
    });
    inner.on('message', (answer) => {
      sender.seen = performance.now();
      sendUnlessFull(outer, answer, from);
    });
    // Connected, it takes datagrams from that port of the workload only.
    inner.connect(options.containerPort, options.containerAddress, () => {
      if (senders.get(key) !== sender) return;
      for (const early of sender.early ?? []) sendUnlessFull(inner, early);
      sender.early = undefined;
    });
  }

  /** Sockets inside are made in batches, before they are needed, and only so often: what senders cannot wait for is lost. */
  function stock(): void {
    if (making || closed) return;
    making = true;
    const now = performance.now();
    const at = Math.max(now, nextBatch, nextOfAll);
    nextBatch = at + BETWEEN_BATCHES;
    nextOfAll = at + BETWEEN_ALL;
    if (at === now) make();
    else turn = setTimeout(make, at - now).unref();
  }

  function make(): void {
    options.makeSockets(BATCH).then(
      (sockets) => {
        making = false;
        if (closed) for (const socket of sockets) socket.close();
        else spare = [...spare, ...sockets];
        for (const { data, from } of waiting.splice(0)) accept(data, from);
      },
      () => {
        // The workload is ending, or the machine is short of something: datagrams may be lost.
        making = false;
        waiting.length = 0;
      },
    );
  }

  // An answer that cannot be sent just now is one that was lost, as on any way of datagrams.
  outer.on('error', () => undefined);
  outer.on('message', accept);
  relayed.add(options.hostPort);
  stock();
  const tidy = setInterval(() => {
    const now = performance.now();
    for (const [key, sender] of senders) if (now - sender.seen > QUIET) forget(key, sender);
  }, QUIET / 4);
  tidy.unref();

  return {
    close() {
      if (closed) return;
      closed = true;
      relayed.delete(options.hostPort);
      clearInterval(tidy);
      clearTimeout(turn);
      outer.close();
      for (const [key, sender] of senders) forget(key, sender);
      for (const socket of spare) socket.close();
      waiting.length = 0;
    },
  };
}

/**
 * Senders can be made up. There is no port 0 to answer to, and another relay of this machine would have each answer
 * answered, without end.
 */
function canBeAnswered({ address, port }: dgram.RemoteInfo): boolean {
  return port !== 0 && !(relayed.has(port) && isOwnAddress(address));
}

const OWN_FOR = 1_000;
let own = { addresses: new Set<string>(), until: 0 };

function isOwnAddress(address: string): boolean {
  if (address.startsWith('127.')) return true;
  const now = performance.now();
  if (now >= own.until) {
    const all = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map((one) => one.address));
    own = { addresses: new Set(all), until: now + OWN_FOR };
  }
  return own.addresses.has(address);
}

/** Without a receiver, to whom it is connected. Node would keep without a bound what the kernel does not take yet. */
function sendUnlessFull(socket: dgram.Socket, data: Buffer, to?: dgram.RemoteInfo): void {
  if (socket.getSendQueueSize() > MOST_UNSENT) return;
  if (to === undefined) socket.send(data);
  else socket.send(data, to.port, to.address);
}
