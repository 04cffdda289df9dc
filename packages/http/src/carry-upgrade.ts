// Carries a request for a protocol upgrade (RFC 9110 section 7.8). Once the upstream has agreed, bytes pass
// both ways unparsed; when it declines, its answer passes like any other.
import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Refusal } from '@platform/contract';
import { Pile } from '@platform/contract/pile';
import { type Carried, type Carrying, Exchange, type Tap } from './carry.ts';
import { gatherPieces } from './gather.ts';
import type { IncomingUpgrade } from './server.ts';
import { setTransportFields, transportFields } from './transport-security.ts';
import { isAcceptance } from './web-socket.ts';

const { ServerResponse } = process.getBuiltinModule('node:http');

export interface CarryingUpgrade extends Pick<Carrying, 'upstream' | 'refuse'> {
  /**
   * `end` is called when the upstream has agreed, and `head` only when it has not; `chunk` gets its bytes before and after.
   */
  readonly tap?: Tap;
  /** Idle limit: milliseconds without a byte in either direction, after which the connection ends. */
  readonly idleMilliseconds: number;
}

/** The only fields of a 101 that are forwarded: those of the WebSocket handshake (RFC 6455 section 4.2.2). */
const HANDSHAKE_FIELDS = ['sec-websocket-accept', 'sec-websocket-protocol', 'sec-websocket-extensions'];

/** Of what a caller sends before it is answered, for which RFC 6455 makes it wait; the rest is not read. */
const EARLY_BYTES = 64 * 1024;

/** An upgrade under way, or a connection that has switched. */
export interface CarriedUpgrade extends Carried {
  /** Takes no more of the upstream; the caller gets `last` and what was sent before, then the end. */
  close(last: Buffer): void;
}

/** Carries an upgrade request. The connection is closed in every case; `abort` also closes one that has switched. */
export function carryUpgrade(incoming: IncomingUpgrade, carrying: CarryingUpgrade): CarriedUpgrade {
  const { socket } = incoming;
  let tunnel: Duplex | null = null;
  let asking: Asking | null = ask(incoming, carrying, (upstream) => {
    tunnel = upstream;
    asking = null;
  });
  socket.once('close', () => {
    asking?.exchange.abandon();
    tunnel?.destroy();
  });
  asking.exchange.start();
  return {
    abandon() {
      asking?.exchange.abandon();
      socket.destroy();
    },
    abort(refusal: Refusal) {
      if (asking !== null && !asking.res.headersSent) {
        asking.exchange.abort(refusal);
        return;
      }
      // Also what waits to be sent to a caller that does not read.
      asking?.exchange.abandon();
      tunnel?.destroy();
      socket.destroy();
    },
    close(last) {
      tunnel?.unpipe(socket);
      socket.end(last, () => socket.destroySoon());
    },
  };
}

/** A request that the upstream has not agreed to. A connection that has switched keeps nothing of it. */
interface Asking {
  readonly exchange: Exchange;
  readonly res: InstanceType<typeof ServerResponse>;
}

/** @param onSwitched gets the upstream's connection */
function ask(incoming: IncomingUpgrade, carrying: CarryingUpgrade, onSwitched: (upstream: Duplex) => void): Asking {
  const { req, socket, first, fallbackProtocol } = incoming;
  const res = new ServerResponse(req);
  res.sendDate = false;
  res.shouldKeepAlive = false;
  setTransportFields(res, socket);
  res.assignSocket(socket);
  res.once('finish', () => socket.end(() => socket.destroy()));
  // The server has let go of the connection, so until it has switched nobody else says that the caller takes more, or left.
  const early = new Pile();
  early.add(first);
  const onDrain = (): void => void res.emit('drain');
  const onEnd = (): void => void socket.destroy();
  const onData = (bytes: Buffer): void => {
    if (res.headersSent) return;
    early.add(bytes);
    if (early.length > EARLY_BYTES) socket.destroy();
  };
  socket.on('drain', onDrain).once('end', onEnd).on('data', onData);
  const exchange = new Exchange({ ...incoming, res, expectsContinue: false }, carrying, {
    protocol: 'websocket',
    accepts: (headers) => isAcceptance(carrying.upstream.headers, headers),
    switched(headers, upstream) {
      onSwitched(upstream);
      socket.off('drain', onDrain).off('end', onEnd).off('data', onData);
      res.detachSocket(socket);
      socket.write(switchingHead(headers, fallbackProtocol, transportFields(socket)), 'latin1');
      observe(upstream, carrying.tap);
      join(socket, upstream, carrying.idleMilliseconds);
      if (early.length > 0) upstream.write(early.take());
    },
  });
  return { exchange, res };
}

function observe(upstream: Duplex, tap: Tap | undefined): void {
  if (tap?.chunk !== undefined) upstream.on('data', (bytes: Buffer) => tap.chunk?.(bytes));
}

function switchingHead(
  headers: IncomingHttpHeaders,
  fallbackProtocol: string | undefined,
  own: Readonly<Record<string, string>>,
): string {
  let head = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n';
  for (const name of HANDSHAKE_FIELDS) {
    const value = headers[name];
    if (typeof value === 'string') head += `${name}: ${value}\r\n`;
  }
  if (fallbackProtocol !== undefined && headers['sec-websocket-protocol'] === undefined)
    head += `sec-websocket-protocol: ${fallbackProtocol}\r\n`;
  for (const [name, value] of Object.entries(own)) head += `${name}: ${value}\r\n`;
  return `${head}\r\n`;
}

function join(caller: IncomingUpgrade['socket'], upstream: Duplex, idleMilliseconds: number): void {
  const timer = setTimeout(() => caller.destroy(), idleMilliseconds);
  const stir = (): void => void timer.refresh();
  caller.on('data', stir);
  upstream.on('data', stir);
  upstream.on('error', () => upstream.destroy());
  // Neither protocol nor proxy knows a half-closed WebSocket: what one side has sent is delivered, then both end.
  caller.once('end', () => upstream.end(() => upstream.destroy()));
  upstream.once('end', () => caller.destroySoon());
  upstream.once('close', () => caller.destroySoon());
  caller.once('close', () => clearTimeout(timer));
  caller.setTimeout(0);
  gatherPieces(caller);
  gatherPieces(upstream);
  caller.pipe(upstream);
  upstream.pipe(caller);
}
