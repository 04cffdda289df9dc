// The other side of web push, written from the standards and not from the library that the platform uses: a browser
// decrypts (RFC 8291, RFC 8188), a push service verifies who sends (RFC 8292).
import { createDecipheriv, createECDH, createPublicKey, ECDH, hkdfSync, randomBytes, verify } from 'node:crypto';

/** A browser's keys: base64url. */
export interface BrowserKeys {
  readonly p256dh: string;
  readonly auth: string;
  readonly privateKey: string;
}

export function newBrowserKeys(): BrowserKeys {
  const curve = createECDH('prime256v1');
  const p256dh = curve.generateKeys().toString('base64url');
  return { p256dh, auth: randomBytes(16).toString('base64url'), privateKey: curve.getPrivateKey('base64url') };
}

const RECORD_LEAST = 18;
const TAG = 16;

/** @throws Error for a body that is not one record for these keys */
export function decryptPush(body: Buffer, { p256dh, auth, privateKey }: BrowserKeys): Buffer {
  const salt = body.subarray(0, 16);
  const recordSize = body.readUInt32BE(16);
  const keyLength = body.readUInt8(20);
  if (recordSize < RECORD_LEAST) throw new Error('the record size is too small');
  if (keyLength !== 65) throw new Error('the key is no uncompressed point');
  const sender = body.subarray(21, 21 + keyLength);
  ECDH.convertKey(sender, 'prime256v1');
  const record = body.subarray(21 + keyLength);
  if (record.length > recordSize) throw new Error('more than one record');
  const curve = createECDH('prime256v1');
  curve.setPrivateKey(privateKey, 'base64url');
  const keyInfo = Buffer.concat([Buffer.from('WebPush: info\0'), Buffer.from(p256dh, 'base64url'), sender]);
  const secret = Buffer.from(
    hkdfSync('sha256', curve.computeSecret(sender), Buffer.from(auth, 'base64url'), keyInfo, 32),
  );
  const derive = (info: string, length: number) =>
    Buffer.from(hkdfSync('sha256', secret, salt, `Content-Encoding: ${info}\0`, length));
  const decipher = createDecipheriv('aes-128-gcm', derive('aes128gcm', 16), derive('nonce', 12));
  decipher.setAuthTag(record.subarray(-TAG));
  const padded = Buffer.concat([decipher.update(record.subarray(0, -TAG)), decipher.final()]);
  const end = padded.findLastIndex((byte) => byte !== 0);
  if (padded[end] !== 2) throw new Error('the last record does not end as the last one');
  return padded.subarray(0, end);
}

export interface VapidClaims {
  readonly aud: string;
  readonly exp: number;
  readonly sub: string;
}

/** @throws Error for anything but a token that this key signed for this origin, for a day at most */
export function verifyVapid(
  authorization: string,
  { origin, now }: { readonly origin: string; readonly now: Date },
): { readonly claims: VapidClaims; readonly key: string } {
  const [, token = '', key = ''] = /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(authorization) ?? [];
  const [header = '', payload = '', signature = ''] = token.split('.');
  const point = Buffer.from(key, 'base64url');
  if (point.length !== 65) throw new Error('the key is no uncompressed point');
  const [x, y] = [point.subarray(1, 33).toString('base64url'), point.subarray(33).toString('base64url')];
  const publicKey = createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x, y } });
  const raw = Buffer.from(signature, 'base64url');
  const signed = Buffer.from(`${header}.${payload}`);
  if (raw.length !== 64 || !verify('sha256', signed, { key: publicKey, dsaEncoding: 'ieee-p1363' }, raw))
    throw new Error('the token is not signed by its key');
  const { alg } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { alg: string };
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as VapidClaims;
  if (alg !== 'ES256') throw new Error('the token is signed in another way');
  if (claims.aud !== origin) throw new Error('the token is for another push service');
  const left = claims.exp - now.getTime() / 1000;
  if (left <= 0 || left > 86_400) throw new Error('the token has ended, or lasts for more than a day');
  if (!/^(?:mailto|https):/.test(claims.sub)) throw new Error('the token names nobody to ask');
  return { claims, key };
}
