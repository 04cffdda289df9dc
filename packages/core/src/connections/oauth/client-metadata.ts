// What a client says of itself, whether it registers (RFC 7591) or has a document (client ID metadata documents): one schema for
// both. Everything is untrusted, and what is not used is left out.
import { isLoopbackHost, limits, readableLine, visible } from '@platform/contract';
import * as z from 'zod';

/**
 * An address to which codes may be sent: https, or http at the person's own computer. No user, no fragment, and spelled as URLs
 * are, so that comparing texts is comparing addresses.
 */
export const redirectAddress = z
  .string()
  .max(limits.clientAddress.value)
  .refine(
    (text) => isRedirectAddress(text),
    'must be an https address, or an http one of localhost, without user and fragment',
  );

function isRedirectAddress(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !/^[\x21-\x7e]+$/.test(text) || text.includes('#') || text.includes('\\')) return false;
  if (url.username !== '' || url.password !== '' || text.slice(url.protocol.length).split(/[/?]/, 3)[2]?.includes('@'))
    return false;
  if (url.hostname.endsWith('.')) return false;
  // `http://127.0.0.1` and `http://127.0.0.1/` are one address; any other difference is a trick.
  if (url.href !== text && url.href !== `${text}/`) return false;
  return url.protocol === 'https:' ? !isLoopbackHost(url.hostname) : isLoopback(url);
}

function isLoopback({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && isLoopbackHost(hostname);
}

export const clientMetadata = z.object({
  client_name: z
    .string()
    .trim()
    .min(1)
    .max(limits.connectedClientName.value)
    .regex(...readableLine)
    .regex(...visible)
    .optional(),
  redirect_uris: z.array(redirectAddress).min(1).max(limits.clientRedirects.value),
  // No client can keep a secret that a document or an anonymous registration would give it.
  token_endpoint_auth_method: z.string().max(64).optional(),
  grant_types: z
    .array(z.string().max(64))
    .max(16)
    .refine((types) => types.includes('authorization_code'), 'must include authorization_code')
    .optional(),
  response_types: z
    .array(z.string().max(64))
    .max(16)
    .refine((types) => types.includes('code'), 'must include code')
    .optional(),
});
export type ClientMetadata = z.infer<typeof clientMetadata>;

/** A client as oidc-provider reads it: a public one that gets codes in the query of its redirect address. */
export function clientProperties({
  id,
  name,
  redirectAddresses,
}: {
  readonly id: string;
  readonly name: string;
  readonly redirectAddresses: readonly string[];
}): Record<string, unknown> {
  const anyPort = redirectAddresses.some((address) => isLoopback(new URL(address)));
  return {
    client_id: id,
    client_name: name,
    redirect_uris: [...redirectAddresses],
    // Of a `native` one the port of a loopback address is not compared (RFC 8252, section 7.3).
    application_type: anyPort ? 'native' : 'web',
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    response_modes: ['query'],
  };
}

/** The name of a client, or for one without a name where it is. */
export function nameOf({ client_name, redirect_uris }: ClientMetadata): string {
  return client_name ?? new URL(redirect_uris[0] ?? 'https://client.invalid').hostname;
}
