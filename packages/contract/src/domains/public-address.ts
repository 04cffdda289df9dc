// The internet address of an installation, as its owner sees it (contract 4e).
import * as z from 'zod';
import type { Limits, Routes } from '../domain.ts';
import { emptyBody, json, ofApp } from './common.ts';
import { publicPortStatus } from './workloads.ts';

const limits = {
  publicRequestDays: {
    value: 30,
    unit: 'days',
    meaning: 'time for which the counts of public requests of an installation are kept',
  },
} as const satisfies Limits;

/** A route of the manifest, and whether requests pass it. */
export const publicRouteStatus = z.strictObject({
  /** `WS` for WebSockets. */
  method: z.string(),
  /** Exact, or everything below where it ends with `/*`. */
  path: z.string(),
  /**
   * `partly`: the grant is narrower. `no-backend`: it is granted, and its backend may not run, since it is not reviewed,
   * stopped, or everything of the account is paused.
   */
  state: z.enum(['open', 'partly', 'not-granted', 'no-backend']),
});
export type PublicRouteStatus = z.infer<typeof publicRouteStatus>;

/** A UDP port of the manifest. */
export const publicPortState = z.strictObject({
  name: z.string(),
  protocol: z.literal('udp'),
  /** `null` for `auto` before its backend has run. */
  containerPort: z.int().nullable(),
  /** Both `null` until the backend has run for the first time with the grant. */
  host: publicPortStatus.shape.host.nullable(),
  hostPort: publicPortStatus.shape.hostPort.nullable(),
  closed: publicPortStatus.shape.closed,
  state: z.enum(['open', 'closed', 'not-granted', 'no-backend']),
});
export type PublicPortState = z.infer<typeof publicPortState>;

export const publicAddress = z.strictObject({
  /** `null` for an app without public routes. */
  hostname: z.string().nullable(),
  /** `https://<hostname>`, with the port where it is not the usual one. */
  url: z.string().nullable(),
  routes: z.array(publicRouteStatus),
  ports: z.array(publicPortState),
});
export type PublicAddress = z.infer<typeof publicAddress>;

/** What came to the address on one day, as the Ingresses counted it; up to a minute late. */
export const publicRequests = z.strictObject({
  /** UTC, e.g. `2026-11-23`. */
  day: z.iso.date(),
  /** Passed to its backend. */
  requests: z.int(),
  /** Refused by an Ingress, by error code, e.g. `rate_limited`. */
  refused: z.record(z.string(), z.int()),
});
export type PublicRequests = z.infer<typeof publicRequests>;

const routes = {
  'apps.public': {
    method: 'GET',
    path: '/v1/apps/:appId/public',
    summary: 'The internet address of an app, its routes and ports',
    callers: ['session'],
    params: ofApp,
    answers: { 200: publicAddress },
    rate: 'session',
  },
  'apps.renewPublic': {
    method: 'POST',
    path: '/v1/apps/:appId/public/renew',
    summary: 'Another internet address for an app; the former one is gone at once',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'an app gets another public name, which its page shows' },
    params: ofApp,
    body: json(emptyBody.optional()),
    answers: { 200: publicAddress },
    rate: 'session',
  },
  'apps.publicRequests': {
    method: 'GET',
    path: '/v1/apps/:appId/public/requests',
    summary: 'Requests from the internet to an app, today',
    callers: ['session'],
    params: ofApp,
    answers: { 200: publicRequests },
    rate: 'session',
  },
} as const satisfies Routes;

export const publicAddresses = { limits, routes } as const;
