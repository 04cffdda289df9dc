// Outbound calls with a secret (specification 4.4; contract 4b): which secret of the account an app's slot uses, and
// what core lets the Gateway send.
import * as z from 'zod';
import type { Errors, Routes } from '../domain.ts';
import { json, ofApp, page, pageQuery } from './common.ts';
import { secretSlot, slotName } from './packages.ts';
import { passkeyConfirmation } from './passkey-credentials.ts';
import { secretName } from './secrets.ts';

const errors = {
  binding_stale: {
    status: 409,
    title: 'The secret binding no longer matches the declaration.',
    help: 'The installed version declares another origin, path or methods than the ones that were reviewed. Review the declaration as it is now and bind the secret again.',
  },
  upstream_redirect_refused: {
    status: 502,
    title: 'The upstream answered with a redirect, which is refused.',
    help: 'A redirect could carry the secret to another place. Declare the final address in the secret slot.',
  },
} as const satisfies Errors;

/** SHA-256 of what a slot declares, hexadecimal: what a person reviewed, in one word. */
export const declarationHash = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in lower-case hexadecimal');

const declaration = secretSlot.omit({ name: true });
export const declaredSlot = secretSlot.extend({ declarationHash });
export type DeclaredSlot = z.infer<typeof declaredSlot>;

/**
 * Fields of framing, routing and cookies, which a secret must not become. `Host` and the like decide where a request
 * goes and where it ends.
 */
const NOT_FOR_SECRETS = new Set([
  ...['host', 'content-length', 'transfer-encoding', 'connection', 'keep-alive', 'te', 'trailer', 'upgrade', 'expect'],
  ...['http2-settings', 'cookie', 'cookie2', 'set-cookie', 'set-cookie2', 'forwarded', 'via', 'max-forwards', 'origin'],
  ...['content-encoding', 'content-type', 'range', 'accept-encoding', 'x-real-ip', 'x-http-method'],
  ...['x-http-method-override', 'x-method-override', 'x-request-id', 'traceparent', 'tracestate'],
]);
const NOT_FOR_SECRETS_PREFIXES = ['proxy-', 'x-forwarded', 'x-original-', 'x-rewrite-', 'sec-'];

/** Whether a request field of this name may carry a secret. */
export function mayCarrySecret(name: string): boolean {
  // Servers behind CGI-like interfaces read `_` as `-`.
  const field = name.toLowerCase().replaceAll('_', '-');
  return !NOT_FOR_SECRETS.has(field) && !NOT_FOR_SECRETS_PREFIXES.some((prefix) => field.startsWith(prefix));
}

const headerName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'must be the name of a header')
  .refine(mayCarrySecret, 'is a header of framing, routing or cookies');
const queryName = z.string().regex(/^[A-Za-z0-9_.~-]{1,64}$/, 'must be the name of a query parameter');
const scheme = z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{0,32}$/, 'must be one word, such as Bearer');

/** Where the secret stands in the request to the outside service. */
export const injection = z.strictObject({
  in: z.enum(['header', 'query']),
  name: z.string(),
  /** Before the secret in a header, with a space; empty for the bare value. */
  scheme: z.string(),
});
export type Injection = z.infer<typeof injection>;

const injectionBody = z.discriminatedUnion('in', [
  z.strictObject({ in: z.literal('header'), name: headerName, scheme: scheme.default('Bearer') }),
  z.strictObject({ in: z.literal('query'), name: queryName, scheme: z.literal('').default('') }),
]);

export const bindSecretBody = z.strictObject({
  secret: secretName,
  /** Of the declaration that the person reviewed. */
  declarationHash,
  /** Default: `Authorization: Bearer <secret>`. */
  inject: injectionBody.prefault({ in: 'header', name: 'Authorization' }),
  /**
   * Of `secret.bind`, about this secret. May be left out where the secret is already bound to the same origin, and for five
   * minutes after its value was stored, in the session that stored it.
   */
  confirmation: passkeyConfirmation.optional(),
});

export const secretBinding = z.strictObject({
  slot: slotName,
  ...declaration.shape,
  declarationHash,
  /** `stale`: the installed version declares something else than what was reviewed; nothing is sent. */
  state: z.enum(['bound', 'unbound', 'stale']),
  secret: secretName.nullable(),
  inject: injection.nullable(),
  /** Of a stale binding: what was declared when it was made. */
  former: declaration.optional(),
});
export type SecretBinding = z.infer<typeof secretBinding>;

export const secretBindingList = page(secretBinding);

const ofSlot = z.strictObject({ ...ofApp.shape, slot: slotName });

/** What the Gateway asks before each call. A slot that no manifest could declare is simply not found. */
export const authorizeOutboundBody = z.strictObject({
  slot: z.string().max(256),
  method: z.string().max(64),
});

export const authorizedOutbound = z.strictObject({
  origin: z.string(),
  pathPrefix: z.string(),
  inject: injection,
  /** The secret, sealed for the Gateway of this start and for exactly this use (`outboundContext`). */
  envelope: z.string(),
});
export type AuthorizedOutbound = z.infer<typeof authorizedOutbound>;

/**
 * What the envelope of an outbound call is bound to. Core and the Gateway both make it, each from what it knows: a
 * secret sealed for one method, slot, origin, path or place of injection opens for no other.
 */
export function outboundContext(
  installationId: string,
  call: { readonly slot: string; readonly method: string } & Omit<AuthorizedOutbound, 'envelope'>,
) {
  const { slot, method, origin, pathPrefix, inject } = call;
  const bound = [slot, method, origin, pathPrefix, inject.in, inject.name, inject.scheme];
  return { purpose: 'outbound', installationId, bound } as const;
}

const routes = {
  'apps.secretBindings.list': {
    method: 'GET',
    path: '/v1/apps/:appId/secret-bindings',
    summary: 'Secret slots of an installed app, and what they are bound to',
    callers: ['session'],
    params: ofApp,
    query: pageQuery,
    answers: { 200: secretBindingList },
    rate: 'session',
  },
  'apps.secretBindings.bind': {
    method: 'PUT',
    path: '/v1/apps/:appId/secret-bindings/:slot',
    summary: 'Let a slot use a secret, as its declaration was reviewed',
    callers: ['session'],
    origin: 'shell',
    confirms: 'secret.bind',
    params: ofSlot,
    body: json(bindSecretBody),
    answers: { 200: secretBinding },
    refuses: ['binding_stale'],
    rate: 'session',
  },
  'apps.secretBindings.unbind': {
    method: 'DELETE',
    path: '/v1/apps/:appId/secret-bindings/:slot',
    summary: 'Let a slot use no secret any more',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'takes a secret away from an app' },
    params: ofSlot,
    answers: { 204: null },
    rate: 'session',
  },
  'gateway.outbound.authorize': {
    method: 'POST',
    path: '/v1/gateway/outbound/authorize',
    summary: 'Whether a workload may make an outbound call now, and with what',
    callers: ['installation'],
    body: json(authorizeOutboundBody),
    answers: { 200: authorizedOutbound },
    refuses: ['not_found'],
    rate: 'service',
  },
} as const satisfies Routes;

export const outbound = { errors, routes } as const;
