// Secrets of an account (contract 4b): written once, read by nobody. What uses them are the slots of installed apps
// (outbound.ts).
import * as z from 'zod';
import { KiB, type Limits, type Routes } from '../domain.ts';
import { appId, timestamp } from '../primitives.ts';
import { readableLine } from '../text.ts';
import { json, page, pageQuery } from './common.ts';
import { slotName } from './packages.ts';

const limits = {
  secrets: { value: 100, unit: 'items', meaning: 'secrets of one account' },
  secretValue: { value: 8_192, unit: 'characters', meaning: 'value of a secret' },
} as const satisfies Limits;

export const secretName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9-]{0,63}$/,
    'must contain only lower-case letters, digits and hyphens, and start with no hyphen',
  );

export const secretBody = z.strictObject({
  /** As the service gave it out: an API key, a token, `user:password` in base64. Nothing returns it. */
  value: z
    .string()
    .min(1)
    .max(limits.secretValue.value)
    .regex(...readableLine)
    .refine((value) => value.trim() === value, 'must not begin or end with a space'),
});

export const secret = z.strictObject({
  name: secretName,
  createdAt: timestamp,
  /** When an app last called an outside service with it; `null` before the first time. Seconds may be missing. */
  lastUsedAt: timestamp.nullable(),
  /** The slots of installed apps that it is bound to. */
  bindings: z.array(z.strictObject({ appId, slot: slotName })),
});
export type Secret = z.infer<typeof secret>;
export const secretList = page(secret);

const ofSecret = z.strictObject({ name: secretName });

const routes = {
  'secrets.list': {
    method: 'GET',
    path: '/v1/account/secrets',
    summary: 'Secrets of the account: names, what they are bound to, and when they were last used',
    callers: ['session'],
    query: pageQuery,
    answers: { 200: secretList },
    rate: 'session',
  },
  'secrets.put': {
    method: 'PUT',
    path: '/v1/account/secrets/:name',
    summary: 'Add a secret, or replace its value; bindings stay',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'stores a value, and shows none; a new place for it is confirmed' },
    params: ofSecret,
    body: json(secretBody, 64 * KiB),
    answers: { 204: null },
    rate: 'session',
  },
  'secrets.remove': {
    method: 'DELETE',
    path: '/v1/account/secrets/:name',
    summary: 'Remove a secret and every binding to it',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'takes a value and shows none' },
    params: ofSecret,
    answers: { 204: null },
    rate: 'session',
  },
} as const satisfies Routes;

export const secrets = { limits, routes } as const;
