// What clients reach a backend with: data-plane capabilities, made for each launch and for the backend itself
// (specification 2.2, 5.2; contract 3).
import * as z from 'zod';
import type { Limits, Routes } from '../domain.ts';
import { timestamp } from '../primitives.ts';
import { emptyBody, json, ofApp, ofInstallation } from './common.ts';

const limits = {
  dataPlaneCapabilitySeconds: {
    value: 43_200,
    unit: 'seconds',
    meaning: 'maximum lifetime of a data-plane capability',
  },
  dataPlaneCapabilities: {
    value: 64,
    unit: 'items',
    meaning: 'data-plane capabilities of one app in one session, or of its backend; one more ends the oldest 16',
  },
  appCapabilityOverlapSeconds: {
    value: 600,
    unit: 'seconds',
    meaning: 'time for which the capability of a backend’s former start goes on after the next start',
  },
  guessedCapabilities: {
    value: 20,
    unit: 'per minute',
    meaning: 'capabilities of no use that one client address may present at the backend of one app',
  },
} as const satisfies Limits;

/**
 * A browser cannot set headers on a WebSocket, so it offers subprotocols: this one with its capability behind it, which
 * ends at the node, and {@link CLIENT_SUBPROTOCOL}, which the node accepts where the backend accepts none: browsers close
 * a WebSocket for which no offered subprotocol was accepted.
 */
export const BEARER_SUBPROTOCOL = 'platform.bearer.';
export const CLIENT_SUBPROTOCOL = 'platform.client';

/** A data-plane capability of the backend itself, for clients that it lets in. */
export const appCapability = z.strictObject({ capability: z.string(), expiresAt: timestamp });
export type AppCapability = z.infer<typeof appCapability>;

export const verifyCapabilityBody = z.strictObject({ capability: z.string().min(1).max(200) });
/** `expiresAt` is `null` for one that is not valid. */
export const verifiedCapability = z.strictObject({ valid: z.boolean(), expiresAt: timestamp.nullable() });
export type VerifiedCapability = z.infer<typeof verifiedCapability>;

/** SHA-256 of a capability, base64url: nodes and core speak of capabilities without naming them. */
export const capabilityHash = z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'must be 32 bytes in base64url');
/** One question of a node is about this many at most. */
export const mostAskedCapabilities = 64;
export const askCapabilitiesBody = z.strictObject({
  hashes: z.array(capabilityHash).min(1).max(mostAskedCapabilities),
});
/** Those that are valid. A duration, because clocks of two machines differ. */
export const validCapabilities = z.strictObject({
  items: z.array(z.strictObject({ hash: capabilityHash, endsInMilliseconds: z.int().min(1) })),
});
export type ValidCapabilities = z.infer<typeof validCapabilities>;

const routes = {
  'apps.disconnect': {
    method: 'POST',
    path: '/v1/apps/:appId/disconnect',
    summary: 'Disconnect all clients of the backend: every data-plane capability ends',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'ends connections' },
    params: ofApp,
    body: json(emptyBody.optional()),
    answers: { 204: null },
    rate: 'session',
  },
  'services.appCapability.renew': {
    method: 'POST',
    path: '/v1/services/runtime/capability',
    summary: 'A new data-plane capability for clients that the backend lets in',
    callers: ['installation'],
    body: json(emptyBody.optional()),
    answers: { 201: appCapability },
    rate: 'service',
  },
  'services.appCapability.verify': {
    method: 'POST',
    path: '/v1/services/runtime/capability/verify',
    summary: 'Whether a data-plane capability is valid for this installation',
    callers: ['installation'],
    body: json(verifyCapabilityBody),
    answers: { 200: verifiedCapability },
    rate: 'service',
  },
  'node.capabilities': {
    method: 'POST',
    path: '/v1/node/installations/:id/capabilities',
    summary: 'Which data-plane capabilities of an installation are valid',
    callers: ['node'],
    params: ofInstallation,
    body: json(askCapabilitiesBody),
    answers: { 200: validCapabilities },
    rate: 'none',
  },
} as const satisfies Routes;

export const clients = { limits, routes } as const;
