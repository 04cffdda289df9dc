// Accounts, passkeys and sessions (specification 2.1, 4.10, 5.1; contract 2).
import * as z from 'zod';
import { limits } from './limits.ts';
import { accountName, timestamp } from './primitives.ts';

const base64url = z.string().regex(/^[A-Za-z0-9_-]*$/, 'must be base64url without padding');

export const accountView = z.strictObject({ name: z.string(), createdAt: timestamp });
export type AccountView = z.infer<typeof accountView>;

export const registerOptionsBody = z.strictObject({ name: accountName });

/** Further passkeys need no name; a one-time enrolment token of the operator stands in for a session. */
export const enrolOptionsBody = z.strictObject({ token: z.string().min(20).max(200) });

/** Extension outputs hold no secret: a PRF result never leaves the browser (specification 5.1.4). */
const clientExtensionResults = z.record(z.string().max(64), z.unknown());

/** RegistrationResponseJSON of WebAuthn Level 3, section 5.1. */
export const registrationCredential = z.strictObject({
  id: base64url.min(1).max(1_400),
  rawId: base64url.min(1).max(1_400),
  type: z.literal('public-key'),
  authenticatorAttachment: z.enum(['platform', 'cross-platform']).nullish(),
  response: z.strictObject({
    clientDataJSON: base64url.min(1).max(8_192),
    attestationObject: base64url.min(1).max(65_536),
    authenticatorData: base64url.max(65_536).optional(),
    transports: z.array(z.string().max(32)).max(16).optional(),
    publicKey: base64url.max(8_192).nullish(),
    publicKeyAlgorithm: z.int().optional(),
  }),
  clientExtensionResults,
});

/** AuthenticationResponseJSON of WebAuthn Level 3, section 5.1. */
export const assertionCredential = z.strictObject({
  id: base64url.min(1).max(1_400),
  rawId: base64url.min(1).max(1_400),
  type: z.literal('public-key'),
  authenticatorAttachment: z.enum(['platform', 'cross-platform']).nullish(),
  response: z.strictObject({
    clientDataJSON: base64url.min(1).max(8_192),
    authenticatorData: base64url.max(8_192),
    signature: base64url.max(8_192),
    userHandle: base64url.max(128).nullish(),
  }),
  clientExtensionResults,
});

const challengeId = z
  .string()
  .min(16)
  .max(64)
  .regex(/^[\w-]+$/);
export const registerVerifyBody = z.strictObject({ challengeId, credential: registrationCredential });
export const loginVerifyBody = z.strictObject({ challengeId, credential: assertionCredential });
export const emptyBody = z.strictObject({});

/** PublicKeyCredentialCreationOptionsJSON or …RequestOptionsJSON, as the browser takes it. */
export const ceremonyOptions = z.strictObject({
  challengeId: z.string(),
  publicKey: z.looseObject({ challenge: z.string() }),
});
export type CeremonyOptions = z.infer<typeof ceremonyOptions>;

export const accountAnswer = z.strictObject({ account: accountView });
export const sessionAnswer = z.strictObject({
  account: accountView,
  session: z.strictObject({ createdAt: timestamp, expiresAt: timestamp }),
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
    .regex(/^\P{Cc}*$/u, 'must not hold control characters'),
});
