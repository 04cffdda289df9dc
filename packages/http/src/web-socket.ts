// What a WebSocket handshake is (RFC 6455 section 4.2.1). A faulty one is refused here: past this point bytes are no
// longer read as HTTP.
import type { IncomingMessage } from 'node:http';
import type { Refusal } from '@platform/contract';
import { hasBody } from './read-body.ts';

/**
 * Whether a request is a WebSocket upgrade, valid or not. HTTP/1.0 has no upgrade (RFC 9110 section 7.8).
 */
export function isWebSocketUpgrade({ method, headers, httpVersionMinor }: IncomingMessage): boolean {
  const protocols = headers.upgrade?.split(',') ?? [];
  return (
    method === 'GET' &&
    httpVersionMinor === 1 &&
    protocols.some((protocol) => protocol.trim().toLowerCase() === 'websocket')
  );
}

/** Why a handshake is refused; `null` for a valid one. */
export function handshakeRefusal(req: IncomingMessage): Refusal | null {
  const { headers } = req;
  const isInOrder =
    headers['sec-websocket-version'] === '13' && /^[A-Za-z0-9+/]{22}==$/.test(headers['sec-websocket-key'] ?? '');
  if (!isInOrder)
    return { code: 'invalid_request', detail: 'Send Sec-WebSocket-Version: 13 and one Sec-WebSocket-Key.' };
  // Its bytes would pass as those of the new protocol.
  return hasBody(req) ? { code: 'invalid_request', detail: 'A WebSocket handshake has no body.' } : null;
}
