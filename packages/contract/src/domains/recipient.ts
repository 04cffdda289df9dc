// The recipient of an account: the public key for which the shell seals what apps keep for the person, and the private key
// wrapped for each passkey (specification 5.1; contract 4i). Core never sees a key that opens anything.
import * as z from 'zod';
import type { Errors, Limits, Routes } from '../domain.ts';
import { secretFree } from './accounts.ts';
import { passkeyConfirmation } from './passkey-credentials.ts';

/** Of X25519, base64url. */
const KEY_CHARACTERS = 43;

const limits = {
  recipientWrapping: { value: 1_024, unit: 'bytes', meaning: 'sealed private key of the recipient, for one passkey' },
  recipientPlaintext: { value: 32_768, unit: 'bytes', meaning: 'plaintext of one `recipient.seal`' },
} as const satisfies Limits;

const errors = {
  recipient_conflict: {
    status: 409,
    title: 'The recipient of the account has changed meanwhile.',
    help: 'Another tab or device changed it. Read it again with `GET /v1/account/recipient`, and send the change with its version.',
  },
} as const satisfies Errors;

/** An operator enrols passkeys beyond `passkeysPerAccount`. */
const MOST_WRAPPINGS = 100;

export const recipientWrapping = z.strictObject({
  /** Of the list of passkeys: SHA-256 of the credential id, hexadecimal. */
  passkeyId: z.string().regex(/^[0-9a-f]{64}$/, 'must be the id of a passkey'),
  /** The input of the PRF whose result it is sealed under: that of this relying party, or PLATFORM_PRF_LEGACY_SALT. */
  salt: z.enum(['rp', 'older']),
  /** Nonce (12 bytes), then AES-256-GCM of the private key; base64url. */
  sealed: z
    .string()
    .min(39)
    .max(Math.ceil((limits.recipientWrapping.value * 4) / 3))
    .regex(/^[A-Za-z0-9_-]*$/, 'must be base64url without padding'),
});
export type RecipientWrapping = z.infer<typeof recipientWrapping>;

export const recipient = z.strictObject({
  /** Counts changes, from 1. */
  version: z.int().min(1),
  publicKey: z.string(),
  /** None for a passkey that cannot open it. */
  wrappings: z.array(recipientWrapping),
});
export type Recipient = z.infer<typeof recipient>;

export const recipientAnswer = z.strictObject({ recipient: recipient.nullable() });

export const putRecipientBody = z.strictObject({
  /** The version that was read; 0 for the first. */
  ifVersion: z.int().min(0).max(2_147_483_647),
  publicKey: z
    .string()
    .length(KEY_CHARACTERS)
    .regex(/^[A-Za-z0-9_-]*[AEIMQUYcgkosw048]$/, 'must be 32 bytes in base64url without padding'),
  /** All of them. Each passkey that had one keeps one, unless the public key is another. */
  wrappings: z
    .array(recipientWrapping)
    .min(1)
    .max(MOST_WRAPPINGS)
    .refine((all) => new Set(all.map(({ passkeyId }) => passkeyId)).size === all.length, 'must name each passkey once'),
  /** Needed for another public key than the one before, and for another wrapping of a passkey that has one under today's salt. */
  confirmation: passkeyConfirmation.optional(),
});

const routes = {
  'recipient.read': {
    method: 'GET',
    path: '/v1/account/recipient',
    summary: 'The recipient of the account: its public key, and what each passkey opens it with',
    callers: ['session'],
    answers: { 200: recipientAnswer },
    rate: 'session',
  },
  'recipient.put': {
    method: 'PUT',
    path: '/v1/account/recipient',
    summary: 'Make the recipient, wrap it for further passkeys, or replace it',
    callers: ['session'],
    origin: 'shell',
    confirms: 'recipient.replace',
    body: secretFree(putRecipientBody),
    answers: { 200: recipientAnswer },
    refuses: ['recipient_conflict'],
    rate: 'session',
  },
} as const satisfies Routes;

export const accountRecipient = { limits, errors, routes } as const;

/** Whether this browser opens what apps sealed for the person. */
export type RecipientState =
  /** It does. */
  | 'ready'
  /** The account has a recipient, which this browser has not opened yet. */
  | 'locked'
  /** The account has none yet. */
  | 'none'
  /** The account has none, and neither the passkey of the last sign-in nor this browser can make one. */
  | 'unsupported'
  /** As `locked`; the next sign-in opens it and wraps it anew. */
  | 'migrates-at-sign-in';

declare module '../bridge-calls.ts' {
  interface BridgeCalls {
    /** Every app may ask. Asks the person nothing, like all of `recipient`. */
    'recipient.status': { params: undefined; result: { readonly state: RecipientState } };
    /**
     * Every app may call: seals bytes, at most 32 KiB in base64url, so that only this app on devices of this person opens them.
     * `unavailable` in every state but `ready`, with what the person can do.
     */
    'recipient.seal': { params: { readonly plaintext: string }; result: { readonly sealed: string } };
    /**
     * The same the other way round. `invalid_request` for what another app or another person's shell sealed, or was changed since;
     * `not_found` for what was sealed before the person started anew, with a key that this browser does not have.
     */
    'recipient.open': { params: { readonly sealed: string }; result: { readonly plaintext: string } };
  }
}
