// The primitives of HPKE as synchronous functions of Node, for @hpke/core, which has the protocol. Its own are those of
// WebCrypto: each envelope would wait some twenty times for the thread pool, which takes several times what it computes.
import {
  type CipherGCMTypes,
  createCipheriv,
  createDecipheriv,
  createHmac,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  KeyObject,
} from 'node:crypto';
import {
  type AeadEncryptionContext,
  Aes256Gcm,
  DhkemX25519HkdfSha256,
  HkdfSha256,
  type RecipientContextParams,
  type SenderContextParams,
} from '@hpke/core';

type Bytes = ArrayBufferLike | ArrayBufferView;

const HASH = 'sha256';
const KEY_BYTES = 32;
/** What stands before the 32 bytes of a public X25519 key in its DER form (RFC 8410). */
const SPKI = Buffer.from('302a300506032b656e032100', 'hex');
/** Of the KEM alone: its name and number. */
const SUITE = Buffer.from('KEM\x00\x20', 'latin1');
const CIPHER: CipherGCMTypes = 'aes-256-gcm';
const TAG_BYTES = 16;

export class Hkdf extends HkdfSha256 {
  override async extract(salt: Bytes, keyMaterial: Bytes): Promise<ArrayBuffer> {
    return arrayOf(createHmac(HASH, viewOf(salt)).update(viewOf(keyMaterial)).digest());
  }

  override async extractAndExpand(salt: Bytes, keyMaterial: Bytes, info: Bytes, length: number): Promise<ArrayBuffer> {
    return hkdfSync(HASH, viewOf(keyMaterial), viewOf(salt), viewOf(info), length);
  }
}

/** DHKEM(X25519, HKDF-SHA256), without authentication of the sender. */
export class X25519Kem extends DhkemX25519HkdfSha256 {
  readonly #kdf = new Hkdf();

  constructor() {
    super();
    this.#kdf.init(SUITE);
  }

  override async encap({
    recipientPublicKey,
  }: SenderContextParams): Promise<{ sharedSecret: ArrayBuffer; enc: ArrayBuffer }> {
    const { publicKey, privateKey } = generateKeyPairSync('x25519');
    const recipient = KeyObject.from(recipientPublicKey);
    const enc = rawOf(publicKey);
    const shared = diffieHellman({ privateKey, publicKey: recipient });
    return { enc: arrayOf(enc), sharedSecret: await this.#sharedSecret(shared, enc, rawOf(recipient)) };
  }

  override async decap({ recipientKey, enc }: RecipientContextParams): Promise<ArrayBuffer> {
    if (!('privateKey' in recipientKey)) throw new Error('An envelope opens with the whole key pair.');
    const ephemeral = viewOf(enc);
    const publicKey = createPublicKey({ key: Buffer.concat([SPKI, ephemeral]), format: 'der', type: 'spki' });
    const shared = diffieHellman({ privateKey: KeyObject.from(recipientKey.privateKey), publicKey });
    return this.#sharedSecret(shared, ephemeral, rawOf(KeyObject.from(recipientKey.publicKey)));
  }

  /** `ExtractAndExpand` of RFC 9180, section 4.1. */
  #sharedSecret(shared: Buffer, enc: Uint8Array, recipient: Uint8Array): Promise<ArrayBuffer> {
    const keyMaterial = this.#kdf.buildLabeledIkm(Buffer.from('eae_prk'), shared);
    const context = Buffer.concat([enc, recipient]);
    const info = this.#kdf.buildLabeledInfo(Buffer.from('shared_secret'), context, this.secretSize);
    return this.#kdf.extractAndExpand(new Uint8Array(), keyMaterial, info, this.secretSize);
  }
}

export class AesGcm extends Aes256Gcm {
  override createEncryptionContext(key: Bytes): AeadEncryptionContext {
    const secret = viewOf(key);
    return {
      async seal(nonce, plain, about) {
        const cipher = createCipheriv(CIPHER, secret, viewOf(nonce)).setAAD(viewOf(about));
        return arrayOf(Buffer.concat([cipher.update(viewOf(plain)), cipher.final(), cipher.getAuthTag()]));
      },
      async open(nonce, sealed, about) {
        const bytes = viewOf(sealed);
        const end = bytes.length - TAG_BYTES;
        const decipher = createDecipheriv(CIPHER, secret, viewOf(nonce)).setAAD(viewOf(about));
        decipher.setAuthTag(bytes.subarray(end));
        return arrayOf(Buffer.concat([decipher.update(bytes.subarray(0, end)), decipher.final()]));
      },
    };
  }
}

function rawOf(publicKey: KeyObject): Uint8Array {
  return publicKey.export({ format: 'der', type: 'spki' }).subarray(-KEY_BYTES);
}

function viewOf(bytes: Bytes): Uint8Array {
  return ArrayBuffer.isView(bytes)
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : new Uint8Array(bytes);
}

function arrayOf({ buffer, byteOffset, byteLength }: Uint8Array): ArrayBuffer {
  return buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
}
