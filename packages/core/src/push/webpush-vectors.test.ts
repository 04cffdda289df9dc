// The vectors of RFC 8291 and RFC 8292, through the functions that send: the same bytes for the same keys, and what a
// browser or a push service must refuse is refused by the other side that all tests here use.
import assert from 'node:assert/strict';
import crypto, { type ECDH } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { limits } from '@platform/contract';
import { type BrowserKeys, decryptPush, newBrowserKeys, verifyVapid } from '../../../../tests/support/push-crypto.ts';
import { encryptFor } from './encrypt.ts';
import { vapidHeader } from './send-message.ts';

interface Vectors {
  readonly rfc8291: Readonly<
    Record<
      'plaintext' | 'as_private' | 'ua_public' | 'ua_private' | 'salt' | 'auth_secret' | 'body' | 'cek' | 'nonce',
      string
    >
  >;
  readonly rfc8292: {
    readonly authorization: string;
    readonly jwt_payload: { readonly aud: string; readonly exp: number; readonly sub: string };
  };
  readonly negatives: readonly { readonly name: string }[];
}

const file = new URL('../../test-vectors/webpush-rfc8291-8292.json', import.meta.url);
const { rfc8291, rfc8292, negatives } = JSON.parse(readFileSync(file, 'utf8')) as Vectors;
const bytes = (text: string) => Buffer.from(text, 'base64url');
const browser: BrowserKeys = {
  p256dh: rfc8291.ua_public,
  auth: rfc8291.auth_secret,
  privateKey: rfc8291.ua_private,
};
const at = new Date((rfc8292.jwt_payload.exp - 3_600) * 1000);
const { aud: origin } = rfc8292.jwt_payload;

test('RFC 8291, appendix A: the key and the salt of the example give its body', (context) => {
  const curve: ECDH = crypto.createECDH('prime256v1');
  curve.setPrivateKey(rfc8291.as_private, 'base64url');
  // The library asks for both; what it makes of them is what is looked at.
  context.mock.method(curve, 'generateKeys', () => curve.getPublicKey());
  context.mock.method(crypto, 'createECDH', () => curve, { times: 1 });
  context.mock.method(crypto, 'randomBytes', () => bytes(rfc8291.salt), { times: 1 });
  const body = encryptFor(browser, bytes(rfc8291.plaintext));
  assert.equal(body.toString('base64url'), rfc8291.body);
});

test('a browser reads the example, and what was encrypted for it, with another key and salt each time', () => {
  assert.deepEqual(decryptPush(bytes(rfc8291.body), browser), bytes(rfc8291.plaintext));
  const keys = newBrowserKeys();
  const plain = Buffer.from('ä'.repeat(1_500));
  const bodies = [encryptFor(keys, plain), encryptFor(keys, plain)];
  for (const body of bodies) assert.deepEqual(decryptPush(body, keys), plain);
  assert.notDeepEqual(bodies[0]?.subarray(0, 86), bodies[1]?.subarray(0, 86));
});

test('RFC 8292: the token of the example verifies, and ours has the same shape', () => {
  assert.deepEqual(verifyVapid(rfc8292.authorization, { origin, now: at }).claims, rfc8292.jwt_payload);
  const curve = crypto.createECDH('prime256v1');
  curve.generateKeys();
  const keys = {
    publicKey: curve.getPublicKey('base64url'),
    // Node leaves out leading zero bytes.
    privateKey: Buffer.concat([Buffer.alloc(32), curve.getPrivateKey()])
      .subarray(-32)
      .toString('base64url'),
  };
  const now = new Date();
  const expires = new Date(now.getTime() + 12 * 3_600_000);
  const header = vapidHeader(origin, { keys, subject: 'mailto:push@example.com', expires });
  const { claims, key } = verifyVapid(header, { origin, now });
  const exp = Math.floor(expires.getTime() / 1000);
  assert.deepEqual([claims, key], [{ aud: origin, exp, sub: 'mailto:push@example.com' }, keys.publicKey]);
});

function changed(body: Buffer, change: (copy: Buffer) => Buffer): () => void {
  return () => decryptPush(change(Buffer.from(body)), browser);
}
function withByte(position: number, next: (byte: number) => number): (copy: Buffer) => Buffer {
  return (copy) => {
    const index = position < 0 ? copy.length + position : position;
    copy[index] = next(copy[index] ?? 0);
    return copy;
  };
}
function token(claims: object, dsaEncoding: 'der' | 'ieee-p1363' = 'ieee-p1363'): () => void {
  const { privateKey, publicKey } = crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ typ: 'JWT', alg: 'ES256' })}.${part({ ...rfc8292.jwt_payload, ...claims })}`;
  const signature = crypto.sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const key = Buffer.concat([Buffer.of(4), bytes(x), bytes(y)]).toString('base64url');
  const header = `vapid t=${signed}.${signature.toString('base64url')}, k=${key}`;
  return () => verifyVapid(header, { origin, now: at });
}

const body = bytes(rfc8291.body);
const refused: Readonly<Record<string, () => void>> = {
  'body-truncated-tag': changed(body, (copy) => copy.subarray(0, -1)),
  'body-bit-flip': changed(
    body,
    withByte(-1, (byte) => byte ^ 1),
  ),
  'wrong-auth-secret': () => decryptPush(body, { ...browser, auth: Buffer.alloc(16).toString('base64url') }),
  'idlen-64': changed(
    body,
    withByte(20, () => 64),
  ),
  'as-public-not-on-curve': changed(
    body,
    withByte(85, (byte) => byte + 1),
  ),
  'rs-17': changed(body, (copy) => {
    copy.writeUInt32BE(17, 16);
    return copy;
  }),
  'delimiter-01-single-record': changed(body, (copy) => {
    const cipher = crypto.createCipheriv('aes-128-gcm', bytes(rfc8291.cek), bytes(rfc8291.nonce));
    const record = Buffer.concat([
      cipher.update(bytes(rfc8291.plaintext)),
      cipher.update(Buffer.of(1)),
      cipher.final(),
    ]);
    return Buffer.concat([copy.subarray(0, 86), record, cipher.getAuthTag()]);
  }),
  'vapid-aud-with-path': token({ aud: `${origin}/push` }),
  'vapid-exp-25h': token({ exp: at.getTime() / 1000 + 25 * 3_600 }),
  'vapid-der-signature': token({}, 'der'),
};
/** What is refused when a browser subscribes, in subscriptions.test.ts. */
const elsewhere = [
  'subscription-p256dh-compressed',
  'subscription-p256dh-not-on-curve',
  'subscription-auth-15-bytes',
  'endpoint-http',
  'endpoint-private-ip',
];
for (const [name, attempt] of Object.entries(refused)) test(`${name} is refused`, () => assert.throws(attempt));

test('payload-4097: the largest message makes a body that every push service takes', () => {
  const largest = Buffer.alloc(limits.pushPayload.value);
  assert.ok(encryptFor(newBrowserKeys(), largest).length <= 4_096);
});

test('a token of our own is accepted by the same check, so that the refusals above mean something', () => {
  assert.doesNotThrow(token({}));
});

test('every negative vector is tried somewhere', () => {
  assert.deepEqual(
    negatives.map(({ name }) => name).sort(),
    [...Object.keys(refused), ...elsewhere, 'payload-4097'].sort(),
  );
});
