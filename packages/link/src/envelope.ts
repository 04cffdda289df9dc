// Envelopes: secrets that core seals for one Gateway, so that nothing between the two can read them, and nobody who
// records them later (HPKE, RFC 9180: base mode, X25519, HKDF-SHA256, AES-256-GCM).
import { CipherSuite } from '@hpke/core';
import { AesGcm, Hkdf, X25519Kem } from './hpke-primitives.ts';

/** The key pair that opens envelopes, as text: 32 bytes each, base64url. */
export interface EnvelopeKey {
  readonly publicKey: string;
  readonly privateKey: string;
}

/**
 * What an envelope is for. It opens only where the same is said of it, so one that is replayed for another installation,
 * slot or upstream stays closed.
 */
export interface EnvelopeContext {
  /** The service that it belongs to, e.g. `outbound`. */
  readonly purpose: string;
  readonly installationId: string;
  /** Everything else that the secret is bound to, such as an origin. */
  readonly bound: readonly string[];
}

const KEY_BYTES = 32;
const suite = new CipherSuite({ kem: new X25519Kem(), kdf: new Hkdf(), aead: new AesGcm() });
const INFO = new TextEncoder().encode('platform/envelope/v1');

/** A new key pair of X25519, for one start of a workload. */
export async function newEnvelopeKey(): Promise<EnvelopeKey> {
  const pair = await suite.kem.generateKeyPair();
  const [publicKey, privateKey] = await Promise.all([
    suite.kem.serializePublicKey(pair.publicKey),
    suite.kem.serializePrivateKey(pair.privateKey),
  ]);
  return { publicKey: textOf(publicKey), privateKey: textOf(privateKey) };
}

/** @returns the encapsulated key, 32 bytes, and the ciphertext with its tag; base64url */
export async function sealEnvelope(publicKey: Buffer, context: EnvelopeContext, plain: Buffer): Promise<string> {
  const recipientPublicKey = await suite.kem.deserializePublicKey(publicKey);
  const { enc, ct } = await suite.seal({ recipientPublicKey, info: INFO }, plain, aadOf(context));
  return Buffer.concat([Buffer.from(enc), Buffer.from(ct)]).toString('base64url');
}

/** Opens what was sealed for one key. */
export class EnvelopeOpener {
  readonly #key: EnvelopeKey;
  #pair: Promise<CryptoKeyPair> | undefined;

  constructor(key: EnvelopeKey) {
    this.#key = key;
  }

  /** @throws Error when it was sealed for another key or context, or changed */
  async open(context: EnvelopeContext, sealed: string): Promise<Buffer> {
    this.#pair ??= importPair(this.#key);
    const bytes = Buffer.from(sealed, 'base64url');
    const enc = bytes.subarray(0, KEY_BYTES);
    const opened = await suite.open(
      // On Node the public half cannot be derived from an imported private one.
      { recipientKey: await this.#pair, info: INFO, enc },
      bytes.subarray(KEY_BYTES),
      aadOf(context),
    );
    return Buffer.from(opened);
  }
}

async function importPair({ publicKey, privateKey }: EnvelopeKey): Promise<CryptoKeyPair> {
  const [opensTo, opens] = await Promise.all([
    suite.kem.deserializePublicKey(Buffer.from(publicKey, 'base64url')),
    suite.kem.deserializePrivateKey(Buffer.from(privateKey, 'base64url')),
  ]);
  return { publicKey: opensTo, privateKey: opens };
}

/** JSON quotes its strings, so that no two contexts have the same text. */
function aadOf({ purpose, installationId, bound }: EnvelopeContext): Uint8Array {
  return new TextEncoder().encode(JSON.stringify([purpose, installationId, ...bound]));
}

function textOf(key: ArrayBuffer): string {
  return Buffer.from(key).toString('base64url');
}
