// Accounts, passkeys and sessions (specification 2.1, 4.10, 5.1; contract 2).
import * as z from 'zod';
import type { Errors, Limits, Routes } from '../domain.ts';
import { accountName, timestamp } from '../primitives.ts';
import { readableLine, visible } from '../text.ts';
import { emptyBody, json, page, pageQuery } from './common.ts';
import {
  assertionCredential,
  challengeId,
  confirmOptionsBody,
  LARGEST_CEREMONY,
  passkeyConfirmation,
  registrationCredential,
} from './passkey-credentials.ts';

const limits = {
  authenticationBody: { value: LARGEST_CEREMONY, unit: 'bytes', meaning: 'body of an authentication request' },
  challengeSeconds: {
    value: 300,
    unit: 'seconds',
    meaning: 'lifetime of a passkey challenge (default of PLATFORM_CHALLENGE_TTL_MS)',
  },
  challenges: {
    value: 100_000,
    unit: 'items',
    meaning: 'passkey challenges kept for all visitors together; within a minute the oldest beyond it are removed',
  },
  sessionSeconds: {
    value: 2_592_000,
    unit: 'seconds',
    meaning: 'lifetime of a session (default of PLATFORM_SESSION_TTL_MS)',
  },
  enrolmentLinkSeconds: { value: 900, unit: 'seconds', meaning: 'lifetime of an operator enrolment link' },
  passkeysPerAccount: { value: 20, unit: 'items', meaning: 'passkeys of one account' },
  sessionsPerAccount: {
    value: 100,
    unit: 'items',
    meaning: 'sessions of one account; one more ends the least recently used one',
  },
  passkeyLabel: { value: 60, unit: 'characters', meaning: 'label of a passkey' },
} as const satisfies Limits;

const errors = {
  forbidden_material: {
    status: 400,
    title: 'The request contains secret material that must stay on your device.',
    help: 'Account routes refuse PRF results, private keys, seeds, recovery phrases and plaintext bundles. Remove them from the request.',
  },
  session_expired: {
    status: 401,
    title: 'The session has ended.',
    help: 'Sign in again with your passkey.',
  },
  session_replaced: {
    status: 401,
    title: 'Another page replaced your sign-in. Sign in again.',
    help: 'No session cookie of the request belongs to the session that `Platform-Session` names. A page on a sibling host may have set a cookie of its own, or somebody else signed in with this browser. Sign in again.',
  },
  verification_failed: {
    status: 401,
    title: 'The passkey could not be verified.',
    help: 'Start the ceremony again from its options route. The reason is in the operator log only.',
  },
  account_name_taken: {
    status: 409,
    title: 'This account name is taken.',
    help: 'Choose another name.',
  },
} as const satisfies Errors;

/** `ses-` and a UUIDv7. */
export const sessionId = z
  .string()
  .regex(/^ses-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'must be an id that starts with ses-');

export const accountView = z.strictObject({
  name: z.string(),
  createdAt: timestamp,
  /** When the account and everything it has is deleted; absent unless its owner asked for that. */
  deletesAt: timestamp.optional(),
});
export type AccountView = z.infer<typeof accountView>;

export const registerOptionsBody = z.strictObject({
  name: accountName,
  /** The token of an invitation, where the platform asks for one. */
  invitation: z.string().min(20).max(200).optional(),
});

/** Who may register: everyone, people with an invitation, or no one. */
export const registrationMode = z.enum(['open', 'invite', 'closed']);
export type RegistrationMode = z.infer<typeof registrationMode>;

/** Further passkeys need no name; a one-time enrolment token of the operator stands in for a session. */
export const enrolOptionsBody = z.strictObject({ token: z.string().min(20).max(200) });

export const registerVerifyBody = z.strictObject({ challengeId, credential: registrationCredential });
export const loginVerifyBody = z.strictObject({ challengeId, credential: assertionCredential });

/** `confirmation` may be left out for five minutes after a registration, in its session. */
export const addPasskeyBody = z.strictObject({ confirmation: passkeyConfirmation.optional() });
export const removePasskeyBody = z.strictObject({ confirmation: passkeyConfirmation });

/** PublicKeyCredentialCreationOptionsJSON or …RequestOptionsJSON, as the browser takes it. */
export const ceremonyOptions = z.strictObject({
  challengeId: z.string(),
  publicKey: z.looseObject({ challenge: z.string() }),
});
export type CeremonyOptions = z.infer<typeof ceremonyOptions>;

/** `id` is public: it names the session to the holder of its cookie, and opens nothing by itself. */
export const sessionAnswer = z.strictObject({
  account: accountView,
  session: z.strictObject({ id: sessionId, createdAt: timestamp, expiresAt: timestamp }),
});
export type SessionAnswer = z.infer<typeof sessionAnswer>;

export const sessionView = z.strictObject({
  id: z.string(),
  createdAt: timestamp,
  lastUsedAt: timestamp,
  expiresAt: timestamp,
  /** The browser as it named itself at sign-in, shortened; a hint for people, never trusted. */
  userAgent: z.string().nullable(),
  current: z.boolean(),
});
export type SessionView = z.infer<typeof sessionView>;

export const passkeyView = z.strictObject({
  id: z.string(),
  label: z.string(),
  createdAt: timestamp,
  lastUsedAt: timestamp.nullable(),
  /** Whether the passkey is synchronised by its provider (WebAuthn backup state). */
  backedUp: z.boolean(),
  transports: z.array(z.string()),
});
export type PasskeyView = z.infer<typeof passkeyView>;
export const passkeyLabelBody = z.strictObject({
  label: z
    .string()
    .trim()
    .min(1)
    .max(limits.passkeyLabel.value)
    .regex(...readableLine)
    .regex(...visible),
});

const ofId = z.strictObject({
  id: z
    .string()
    .min(1)
    .max(64)
    .regex(/^[\w-]+$/, 'must contain only letters, digits, hyphens and underscores'),
});

/** Sent by a page that holds key material, none of which may leave the browser. Small, because all of it is searched. */
export function secretFree<Schema extends z.ZodType>(schema: Schema) {
  return { ...json(schema, limits.authenticationBody.value), refusesSecrets: true } as const;
}

const routes = {
  'auth.registration': {
    method: 'GET',
    path: '/v1/auth/registration',
    summary: 'Who may register here, and whom to ask for help',
    callers: ['anonymous'],
    answers: {
      200: z.strictObject({
        registration: registrationMode,
        /** PLATFORM_OPERATOR_CONTACT; `null` where it is not set. */
        operator: z.string().nullable(),
      }),
    },
    rate: 'authentication',
  },
  'auth.register.options': {
    method: 'POST',
    path: '/v1/auth/register/options',
    summary: 'Start registering an account',
    callers: ['anonymous'],
    origin: 'shell',
    body: secretFree(registerOptionsBody),
    answers: { 200: ceremonyOptions },
    refuses: ['account_name_taken', 'not_authorized'],
    rate: 'authentication',
  },
  'auth.register.verify': {
    method: 'POST',
    path: '/v1/auth/register/verify',
    summary: 'Create the account with its first passkey',
    callers: ['anonymous'],
    origin: 'shell',
    body: secretFree(registerVerifyBody),
    answers: { 201: sessionAnswer },
    refuses: ['account_name_taken', 'not_authorized', 'verification_failed'],
    rate: 'authentication',
  },
  'auth.login.options': {
    method: 'POST',
    path: '/v1/auth/login/options',
    summary: 'Start signing in with a discoverable passkey',
    callers: ['anonymous'],
    origin: 'shell',
    body: secretFree(emptyBody),
    answers: { 200: ceremonyOptions },
    rate: 'authentication',
  },
  'auth.login.verify': {
    method: 'POST',
    path: '/v1/auth/login/verify',
    summary: 'Sign in',
    callers: ['anonymous'],
    origin: 'shell',
    body: secretFree(loginVerifyBody),
    answers: { 200: sessionAnswer },
    refuses: ['verification_failed'],
    rate: 'authentication',
  },
  'auth.enrol.options': {
    method: 'POST',
    path: '/v1/auth/enrol/options',
    summary: 'Start adding a passkey with an operator’s one-time link',
    callers: ['anonymous'],
    origin: 'shell',
    body: secretFree(enrolOptionsBody),
    answers: { 200: ceremonyOptions },
    refuses: ['verification_failed'],
    rate: 'authentication',
  },
  'auth.enrol.verify': {
    method: 'POST',
    path: '/v1/auth/enrol/verify',
    summary: 'Add the passkey, consume the link and sign in',
    callers: ['anonymous'],
    origin: 'shell',
    body: secretFree(registerVerifyBody),
    answers: { 200: sessionAnswer },
    refuses: ['verification_failed'],
    rate: 'authentication',
  },
  'auth.confirm.options': {
    method: 'POST',
    path: '/v1/auth/confirm/options',
    summary: 'Start confirming one operation with a passkey of the account',
    callers: ['session'],
    whileClosing: true,
    origin: 'shell',
    confirms: { nothing: 'begins a confirmation' },
    body: secretFree(confirmOptionsBody),
    answers: { 200: ceremonyOptions },
    refuses: ['not_found', 'proposal_conflict'],
    rate: 'authentication',
  },
  'auth.session': {
    method: 'GET',
    path: '/v1/auth/session',
    summary: 'The current session',
    callers: ['session'],
    whileClosing: true,
    answers: { 200: sessionAnswer },
    rate: 'session',
  },
  'auth.logout': {
    method: 'POST',
    path: '/v1/auth/logout',
    summary: 'End the session',
    callers: ['session'],
    whileClosing: true,
    origin: 'shell',
    confirms: { nothing: 'ends a session' },
    body: secretFree(emptyBody.optional()),
    answers: { 204: null },
    rate: 'session',
  },
  'auth.passkeys.list': {
    method: 'GET',
    path: '/v1/auth/passkeys',
    summary: 'Passkeys of the account',
    callers: ['session'],
    query: pageQuery,
    answers: { 200: page(passkeyView) },
    rate: 'session',
  },
  'auth.passkeys.options': {
    method: 'POST',
    path: '/v1/auth/passkeys/options',
    summary: 'Start adding a passkey',
    callers: ['session'],
    origin: 'shell',
    confirms: 'passkey.add',
    body: secretFree(addPasskeyBody),
    answers: { 200: ceremonyOptions },
    rate: 'passkey',
  },
  'auth.passkeys.verify': {
    method: 'POST',
    path: '/v1/auth/passkeys/verify',
    summary: 'Add the passkey',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'goes on with what was confirmed at its beginning' },
    body: secretFree(registerVerifyBody),
    answers: { 201: z.strictObject({ passkey: passkeyView }) },
    refuses: ['verification_failed'],
    rate: 'passkey',
  },
  'auth.passkeys.label': {
    method: 'PATCH',
    path: '/v1/auth/passkeys/:id',
    summary: 'Rename a passkey',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'changes a name that its owner sees' },
    params: ofId,
    body: secretFree(passkeyLabelBody),
    answers: { 200: z.strictObject({ passkey: passkeyView }) },
    rate: 'session',
  },
  'auth.passkeys.remove': {
    method: 'DELETE',
    path: '/v1/auth/passkeys/:id',
    summary: 'Remove a passkey, except the last',
    callers: ['session'],
    origin: 'shell',
    confirms: 'passkey.remove',
    params: ofId,
    body: secretFree(removePasskeyBody),
    answers: { 204: null },
    rate: 'session',
  },
  'auth.sessions.list': {
    method: 'GET',
    path: '/v1/auth/sessions',
    summary: 'Sessions of the account',
    callers: ['session'],
    query: pageQuery,
    answers: { 200: page(sessionView) },
    rate: 'session',
  },
  'auth.sessions.revoke': {
    method: 'DELETE',
    path: '/v1/auth/sessions/:id',
    summary: 'End a session',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'ends a session' },
    params: ofId,
    answers: { 204: null },
    rate: 'session',
  },
} as const satisfies Routes;

export const accounts = { limits, errors, routes } as const;
