/**
 * `Strict-Transport-Security` (RFC 6797) of every answer on an origin that is https: for a year its host is reached over
 * TLS only. Not for subdomains, which may belong to somebody else.
 */
export const STRICT_TRANSPORT = 'max-age=31536000';
