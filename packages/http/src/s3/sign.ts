// Signs requests to the store (AWS Signature Version 4), with Node's own hashes instead of those in JavaScript.
import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';

export interface StoreCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** The hash class that the library wants: SHA-256, or HMAC with it when made with a secret. */
class Sha256 {
  readonly #hash: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret));
  }

  update(data: Uint8Array): void {
    this.#hash.update(data);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    throw new Error('a hash is used once');
  }
}

function bytesOf(secret: string | ArrayBuffer | ArrayBufferView): string | Uint8Array {
  if (typeof secret === 'string') return secret;
  return ArrayBuffer.isView(secret)
    ? new Uint8Array(secret.buffer, secret.byteOffset, secret.byteLength)
    : new Uint8Array(secret);
}

export interface Unsigned {
  readonly method: string;
  /** Encoded as S3 reads it; it is signed as it is. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** With `host` and `x-amz-content-sha256`. */
  readonly headers: Readonly<Record<string, string>>;
}

/** @returns all header fields, the signature among them */
export async function sign(
  { method, path, query, headers }: Unsigned,
  { credentials, region, origin }: { credentials: StoreCredentials; region: string; origin: URL },
): Promise<Record<string, string>> {
  const { sessionToken, ...pair } = credentials;
  const signer = new SignatureV4({
    service: 's3',
    region,
    credentials: { ...pair, ...(sessionToken === undefined ? {} : { sessionToken }) },
    sha256: Sha256,
    uriEscapePath: false,
    applyChecksum: false,
  });
  const signed = await signer.sign({
    method,
    protocol: origin.protocol,
    hostname: origin.hostname,
    path,
    query: { ...query },
    headers: { ...headers },
  });
  return signed.headers;
}
