// What a WebSocket handshake is (RFC 6455 section 4.2.1), and its answer. A faulty one is refused here: past this point bytes
// are no longer read as HTTP.
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Refusal } from '@platform/contract';
import { hasBody } from './read-body.ts';
import { trimField } from './trim-field.ts';

/**
 * Whether a request is a WebSocket upgrade, valid or not. HTTP/1.0 has no upgrade (RFC 9110 section 7.8).
 */
export function isWebSocketUpgrade({ method, headers, httpVersionMinor }: IncomingMessage): boolean {
  const protocols = headers.upgrade?.split(',') ?? [];
  return (
    method === 'GET' &&
    httpVersionMinor === 1 &&
    protocols.some((protocol) => trimField(protocol).toLowerCase() === 'websocket')
  );
}

/** Why a handshake is refused; `null` for a valid one. */
export function handshakeRefusal(req: IncomingMessage): Refusal | null {
  const { headers } = req;
  const isInOrder =
    headers['sec-websocket-version'] === '13' && /^[A-Za-z0-9+/]{22}==$/.test(headers['sec-websocket-key'] ?? '');
  if (!isInOrder)
    return { code: 'invalid_request', detail: 'Send Sec-WebSocket-Version: 13 and one Sec-WebSocket-Key.' };
  if (protocolsOf(headers['sec-websocket-protocol']) === null)
    return { code: 'invalid_request', detail: 'Sec-WebSocket-Protocol names subprotocols.' };
  // Its bytes would pass as those of the new protocol.
  return hasBody(req) ? { code: 'invalid_request', detail: 'A WebSocket handshake has no body.' } : null;
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** The subprotocols of a request, which are tokens; `null` for a field that names none, or anything else. */
function protocolsOf(field: string | undefined): readonly string[] | null {
  if (field === undefined) return [];
  const named = field
    .split(',')
    .map(trimField)
    .filter((name) => name !== '');
  return named.length > 0 && named.every((name) => TOKEN.test(name)) ? named : null;
}

/** RFC 6455 section 1.3. */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** What a server answers to this `Sec-WebSocket-Key`. */
export function acceptOf(key: string): string {
  return createHash('sha1').update(`${key}${GUID}`).digest('base64');
}

/**
 * Whether a 101 is the answer to this handshake (RFC 6455 section 4.1): another protocol, or an answer that somebody else
 * gave, is none.
 *
 * @param sent the fields of the request, name, value, name, value …
 * @param answered in lower case
 */
export function isAcceptance(sent: readonly string[], answered: IncomingHttpHeaders): boolean {
  const { upgrade, connection = '' } = answered;
  if (typeof upgrade !== 'string' || upgrade.toLowerCase() !== 'websocket') return false;
  const options = String(connection).split(',');
  if (!options.some((option) => trimField(option).toLowerCase() === 'upgrade')) return false;
  if (answered['sec-websocket-accept'] !== acceptOf(fieldOf(sent, 'sec-websocket-key') ?? '')) return false;
  const protocol = answered['sec-websocket-protocol'];
  if (protocol !== undefined && protocolsOf(fieldOf(sent, 'sec-websocket-protocol'))?.includes(protocol) !== true)
    return false;
  return answered['sec-websocket-extensions'] === undefined || fieldOf(sent, 'sec-websocket-extensions') !== undefined;
}

/** The values of a field, as one list. */
function fieldOf(fields: readonly string[], wanted: string): string | undefined {
  const values = fields.filter((_, index) => index % 2 === 1 && fields[index - 1]?.toLowerCase() === wanted);
  return values.length === 0 ? undefined : values.join(', ');
}
