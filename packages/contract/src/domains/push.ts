// Web push: the subscriptions of browsers and the key they are made with (specification 2.4; contract 4; RFC 8030,
// 8291 and 8292).
import * as z from 'zod';
import type { Limits, Metrics, Routes } from '../domain.ts';
import { notificationBody, notificationTitle } from '../notification-text.ts';
import { appId, notificationId, pushSubscriptionId, timestamp } from '../primitives.ts';
import { common, json, page, pageQuery } from './common.ts';

const limits = {
  pushSubscriptions: {
    value: 20,
    unit: 'items',
    meaning: 'browsers of one account that receive web push; one more removes the oldest subscription',
  },
  pushEndpoint: { value: 2_048, unit: 'characters', meaning: 'endpoint of a push subscription' },
  pushPayload: { value: 3_000, unit: 'bytes', meaning: 'web push message before encryption; its body is shortened' },
  pushWaiting: {
    value: 1_000,
    unit: 'items',
    meaning: 'web push messages queued for one browser; the oldest are dropped first',
  },
  pushLifeSeconds: {
    value: 604_800,
    unit: 'seconds',
    meaning: 'time until an undelivered web push message is dropped, unless its notification expires sooner',
  },
} as const satisfies Limits;

/** For the service worker, so that it need not load the whole domain. */
export const pushLifeSeconds: number = limits.pushLifeSeconds.value;

const metrics = {
  platform_core_push_waiting: {
    type: 'gauge',
    labels: [],
    meaning: 'Web push messages waiting in the outbox, across all replicas.',
  },
  platform_core_push_sent_total: {
    type: 'counter',
    labels: [],
    meaning: 'Web push messages accepted by a push service.',
  },
  platform_core_push_failed_total: {
    type: 'counter',
    labels: [],
    meaning: 'Failed web push attempts that will be retried.',
  },
  platform_core_push_dropped_total: {
    type: 'counter',
    labels: ['reason'],
    meaning:
      'Web push messages dropped: `expired`, `gone` (their browser unsubscribed), `refused` by the push service, `surplus` (the oldest of too many for one browser), or `too-large`.',
  },
} as const satisfies Metrics;

/** base64url without padding of so many bytes (RFC 4648, section 5). */
function base64url(bytes: number) {
  return z
    .string()
    .length(Math.ceil((bytes * 4) / 3))
    .regex(/^[A-Za-z0-9_-]+$/, 'must be base64url without padding');
}

export const pushKeyAnswer = z.strictObject({
  /**
   * `applicationServerKey` for `pushManager.subscribe`: the VAPID public key, an uncompressed point of P-256,
   * base64url. `null` where the platform sends no web push: docs/operators.md says what the operator sets.
   */
  publicKey: base64url(65).nullable(),
});

const endpoint = z.string().min(1).max(limits.pushEndpoint.value);

/** What `PushSubscription.toJSON()` of a browser holds, without `expirationTime`. */
export const pushSubscribeBody = z.strictObject({
  /** https, without credentials, on a publicly routable host: knowing it is enough to send to this browser. */
  endpoint,
  keys: z.strictObject({
    /** Public key of the browser: an uncompressed point of P-256, 65 bytes. */
    p256dh: base64url(65),
    /** Secret of the browser, 16 bytes. */
    auth: base64url(16),
  }),
});

export const pushUnsubscribeBody = z.strictObject({ endpoint });

export const pushSubscription = z.strictObject({ id: pushSubscriptionId, createdAt: timestamp });
export type PushSubscription = z.infer<typeof pushSubscription>;
export const pushSubscriptionAnswer = z.strictObject({ subscription: pushSubscription });

/** Browsers of the account that receive web push, the newest first. Nothing here leads to one of them. */
export const pushSubscriptionList = page(pushSubscription);

/**
 * What a push message says, as JSON and encrypted for one browser: what its service worker shows, and nothing else. A tap
 * opens the notification by its id, so that the signed-in account asks core where it leads.
 */
export const pushPayload = z.strictObject({
  /** Of the notification. A message may arrive twice; the service worker shows an id once. */
  id: notificationId,
  appId,
  /** Name of the app, from the version that is installed. */
  appName: z.string().min(1).max(common.limits.appName.value),
  title: notificationTitle,
  /** Ends with `…` where it was shortened. */
  body: notificationBody,
  tone: z.enum(['neutral', 'accent', 'success', 'warning', 'danger']),
  priority: z.enum(['low', 'normal', 'high', 'critical']),
});
export type PushPayload = z.infer<typeof pushPayload>;

const routes = {
  'push.key': {
    method: 'GET',
    path: '/v1/push/key',
    summary: 'Public key for subscribing to web push',
    callers: ['session'],
    answers: { 200: pushKeyAnswer },
    rate: 'session',
  },
  'push.list': {
    method: 'GET',
    path: '/v1/push/subscriptions',
    summary: 'Browsers of the account that receive web push',
    callers: ['session'],
    query: pageQuery,
    answers: { 200: pushSubscriptionList },
    rate: 'session',
  },
  'push.subscribe': {
    method: 'POST',
    path: '/v1/push/subscriptions',
    summary: 'Send web push to this browser while the session lasts; the same endpoint again replaces it',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'ends with the session' },
    body: json(pushSubscribeBody),
    answers: { 201: pushSubscriptionAnswer },
    refuses: ['not_found'],
    rate: 'session',
  },
  'push.unsubscribe': {
    method: 'DELETE',
    path: '/v1/push/subscriptions',
    summary: 'Stop sending web push to an endpoint',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'ends what this browser gets' },
    body: json(pushUnsubscribeBody),
    answers: { 204: null },
    refuses: ['not_found'],
    rate: 'session',
  },
} as const satisfies Routes;

export const push = { limits, metrics, routes } as const;
