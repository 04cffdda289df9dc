// `Strict-Transport-Security` (RFC 6797) of every answer on an origin that is https: for a year its host is reached over
// TLS only. Not for subdomains, which may belong to somebody else.
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

const FIELDS = { 'strict-transport-security': 'max-age=31536000' } as const;

/** Connections on which every answer asks for TLS; kept here, since some answers are written without a response. */
const strict = new WeakSet<Duplex>();

/** From now on every answer on this connection has Strict-Transport-Security (RFC 6797). */
export function requireTransportSecurity(connection: Duplex): void {
  strict.add(connection);
}

/** The fields that every answer on this connection has. */
export function transportFields(connection: Duplex): Readonly<Record<string, string>> {
  return strict.has(connection) ? FIELDS : {};
}

/** Sets them on a response, before its handler sets others. */
export function setTransportFields(res: ServerResponse, connection: Duplex): void {
  for (const [name, value] of Object.entries(transportFields(connection))) res.setHeader(name, value);
}
