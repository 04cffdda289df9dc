// Watches one connection of HTTP/2 for what costs its client nothing: being silent, taking an answer by drops,
// and frames that only ask to be answered. Node's own limits cover frames that break the protocol, and requests
// that are cancelled at once.
import type { ServerHttp2Session } from 'node:http2';
import { constants } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { type ReadingWatch, watchReading } from '@platform/http';
import type { Http2Response } from './response.ts';
import type { Http2Limits } from './sessions.ts';

export interface SessionWatch {
  /** A request is under way until its response closes. */
  add(res: Http2Response): void;
}

interface Exchange {
  readonly res: Http2Response;
  /** `null` until something of the answer waits. */
  reading: ReadingWatch | null;
}

const SECOND = 1_000;
/** Of frames that are answered. */
const WINDOW = 10 * SECOND;

export function watchSession(session: ServerHttp2Session, socket: TLSSocket, limits: Http2Limits): SessionWatch {
  const exchanges = new Set<Exchange>();
  let controls = 0;
  /** Ends a connection that has no request for too long: at its begin the time of a head, later that of a next one. */
  let silence = setTimeout(endSilent, limits.headMilliseconds);

  function endSilent(): void {
    session.close();
    // One that does not take part in the leave either.
    silence = setTimeout(() => session.destroy(), WINDOW);
  }

  function countControl(): void {
    controls += 1;
    if (controls > limits.controls) session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }
  session.on('ping', countControl);
  session.on('remoteSettings', countControl);

  const window = setInterval(() => {
    controls = 0;
  }, WINDOW);
  const readings = setInterval(
    () => {
      for (const exchange of exchanges) requireTaking(exchange, limits);
    },
    watchReading(limits.reading, { given: 0, taken: 0 }).interval,
  );
  session.once('close', () => {
    clearTimeout(silence);
    clearInterval(window);
    clearInterval(readings);
  });
  socket.once('close', () => session.destroy());

  return {
    add(res) {
      const exchange: Exchange = { res, reading: null };
      clearTimeout(silence);
      exchanges.add(exchange);
      res.once('close', () => {
        exchanges.delete(exchange);
        if (exchanges.size > 0 || session.destroyed) return;
        clearTimeout(silence);
        silence = setTimeout(endSilent, limits.keepAliveMilliseconds || 2 ** 31 - 1);
      });
    },
  };
}

/** A client may keep its window closed: then nothing waits on its connection, but here. */
function requireTaking(exchange: Exchange, { reading }: Http2Limits): void {
  const now = exchange.res.progress();
  if (exchange.reading === null) {
    if (now.taken < now.given) exchange.reading = watchReading(reading, now);
  } else if (exchange.reading.look(now)) exchange.res.destroy();
}
