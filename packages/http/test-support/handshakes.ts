// WebSocket handshakes (RFC 6455 section 4.1): one in order, variations of it, and the vectors of them as tests.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { acceptOf } from '../src/web-socket.ts';
import type { RawConnection } from './raw-exchange.ts';

/** `null` leaves a field out, and a list sends it more than once. */
export type Fields = Readonly<Record<string, string | readonly string[] | null>>;

const IN_ORDER: Fields = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

/** Lines of a head, without `Host`: a handshake in order but for these fields. */
export function handshake(change: Fields = {}): string[] {
  return Object.entries({ ...IN_ORDER, ...change }).flatMap(([name, value]) =>
    value === null ? [] : [value].flat().map((one) => `${name}: ${one}`),
  );
}

/** The head of the 101 that answers this handshake. */
export function switching({ headers }: IncomingMessage): string {
  const accept = acceptOf(headers['sec-websocket-key'] ?? '');
  return `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`;
}

/** The same as an expression, for the source of a backend with the request `req`. */
export const SWITCHING = `'HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\nSec-WebSocket-Accept: ' +
  process.getBuiltinModule('node:crypto').createHash('sha1')
    .update(req.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64') + '\\r\\n\\r\\n'`;

interface Vector {
  readonly name: string;
  readonly family: string;
  readonly change?: Fields;
  readonly status?: number;
}

const { cases }: { readonly cases: readonly Vector[] } = JSON.parse(
  readFileSync(new URL('../test-vectors/websocket.json', import.meta.url), 'utf8'),
);

/**
 * Registers a test for each handshake of the vectors.
 *
 * @param connect sends a handshake in order but for these fields
 * @param otherwise by name, where another status than the vector's is right here, and why
 */
export function testHandshakeVectors(
  connect: (change: Fields) => Promise<RawConnection>,
  otherwise: Readonly<Record<string, readonly [number, string]>>,
): void {
  for (const { name, family, change = {}, status = 0 } of cases) {
    if (family !== 'handshake') continue;
    const [expected, reason] = otherwise[name] ?? [status, ''];
    test(`${name} is answered ${expected}${reason === '' ? '' : `: ${reason}`}`, async () => {
      const connection = await connect(change);
      await connection.until(() => connection.received().includes('\r\n\r\n'));
      assert.equal(Number(/^HTTP\/1\.1 (\d{3})/.exec(connection.received())?.[1]), expected, connection.received());
      connection.socket.destroy();
    });
  }
}
