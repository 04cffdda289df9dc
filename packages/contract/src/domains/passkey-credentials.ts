// What a browser sends of a passkey, and the confirmation of an operation with it (specification 5.1; contract 2).
import * as z from 'zod';
import { KiB } from '../domain.ts';

/** Bytes of the body that a ceremony ends with. */
export const LARGEST_CEREMONY = 32 * KiB;

const base64url = z.string().regex(/^[A-Za-z0-9_-]*$/, 'must be base64url without padding');

/**
 * The extension outputs that say something about a passkey and hold no secret, exactly as WebAuthn Level 3 and CTAP 2.2
 * shape them; core stores none of them. Any other member is refused, whatever it is called: a PRF result, a blob or a
 * seed must never leave the browser (specification 5.1.3, 5.1.4), and a client that sends one has to learn of it.
 */
const clientExtensionResults = z.strictObject({
  credProps: z.strictObject({ rk: z.boolean().optional() }).optional(),
  /** `enabled` at registration; empty at sign-in, its results taken out. */
  prf: z.strictObject({ enabled: z.boolean().optional() }).optional(),
  /** Not asked for, but conveyed by some clients for every passkey. */
  credProtect: z.int().min(1).max(3).optional(),
  appid: z.boolean().optional(),
  appidExclude: z.boolean().optional(),
});

/** RegistrationResponseJSON of WebAuthn Level 3, section 5.1. */
export const registrationCredential = z.strictObject({
  id: base64url.min(1).max(1_400),
  rawId: base64url.min(1).max(1_400),
  type: z.literal('public-key'),
  authenticatorAttachment: z.enum(['platform', 'cross-platform']).nullish(),
  response: z.strictObject({
    clientDataJSON: base64url.min(1).max(8_192),
    attestationObject: base64url.min(1).max(LARGEST_CEREMONY),
    authenticatorData: base64url.max(LARGEST_CEREMONY).optional(),
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

export const challengeId = z
  .string()
  .min(16)
  .max(64)
  .regex(/^[\w-]+$/, 'must contain only letters, digits, hyphens and underscores');
/** What takes effect only with the passkey used for it once more. */
export const confirmedOperation = z.enum([
  'account.export',
  'account.delete',
  'author.allow',
  'connection.allow',
  'operator.account.delete',
  'operator.provider.remove',
  'operator.provider.set',
  'operator.setting.change',
  'passkey.add',
  'passkey.remove',
  'recipient.replace',
  'secret.bind',
  'tools.approve',
  'wallet.payment',
  'wallet.policy',
]);
export type ConfirmedOperation = z.infer<typeof confirmedOperation>;

/** Operations that are about one thing, whose challenge names it. */
const WITH_SUBJECT: readonly ConfirmedOperation[] = [
  'operator.provider.remove',
  'operator.provider.set',
  'operator.setting.change',
  'passkey.remove',
  'secret.bind',
  'tools.approve',
  'wallet.payment',
  'wallet.policy',
];

/** Operations that are about one thing, whose challenge may name it and then holds for it alone. */
const WITH_OR_WITHOUT: readonly ConfirmedOperation[] = ['connection.allow'];

export const confirmOptionsBody = z
  .strictObject({
    operation: confirmedOperation,
    /**
     * What it is about: the id of the passkey to remove, the name of the secret to bind, the setting with its value, the provider,
     * with the origin of one to set (`openai@https://api.openai.com`), the request to connect, the proposed call of a tool, the proposed payment or wallet policy; of no other operation.
     */
    subject: z
      .string()
      .min(1)
      .max(320)
      .regex(/^[\w.:/@[\]-]+$/, 'must be the name of one thing, without spaces')
      .optional(),
  })
  .refine(
    ({ operation, subject }) =>
      WITH_OR_WITHOUT.includes(operation) || WITH_SUBJECT.includes(operation) === (subject !== undefined),
    { path: ['subject'], message: `is for ${WITH_SUBJECT.join(', ')}, which need it` },
  );
/** A fresh assertion over the challenge of `auth.confirm.options`, part of the body of the operation itself. */
export const passkeyConfirmation = z.strictObject({ challengeId, credential: assertionCredential });
export type PasskeyConfirmation = z.infer<typeof passkeyConfirmation>;
