// The private key of the recipient opens with the passkey it is wrapped for, and with nothing else.
import assert from 'node:assert/strict';
import { createCipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { bytesOf, textOf } from './base64url.ts';
import { newOpenKey, passkeyIdOf, sealedIn, unwrap, type WrappingKey, wipe, wrap } from './recipient-key.ts';

async function passkey(): Promise<WrappingKey> {
  return {
    passkeyId: await passkeyIdOf(randomBytes(32).toString('base64url')),
    result: new Uint8Array(randomBytes(32)),
  };
}

test('what is wrapped opens with the same passkey, and is another text each time', async () => {
  const [key, by] = [await newOpenKey(), await passkey()];
  const [one, other] = [await wrap(key, by), await wrap(key, by)];
  assert.notEqual(one, other);
  for (const sealed of [one, other]) assert.deepEqual(await unwrap(sealed, by, key.publicKey), key);
});

test('the sealed form is that of the contract', async () => {
  const [key, by] = [await newOpenKey(), await passkey()];
  const secret = hkdfSync('sha256', by.result, '', 'platform/recipient/v1', 32);
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', Buffer.from(secret), nonce).setAAD(Buffer.from(by.passkeyId));
  const sealed = Buffer.concat([nonce, cipher.update(key.bytes), cipher.final(), cipher.getAuthTag()]);
  assert.equal(sealed.length, 60);
  assert.deepEqual(await unwrap(sealed.toString('base64url'), by, key.publicKey), key);
});

test('a bundle of another passkey, account, length, version or byte opens nothing', async () => {
  const [key, other, by, another] = [await newOpenKey(), await newOpenKey(), await passkey(), await passkey()];
  const sealed = await wrap(key, by);
  const bytes = bytesOf(sealed) ?? new Uint8Array();
  const flipped = (at: number) => textOf(bytes.map((byte, index) => (index === at ? byte ^ 1 : byte)));
  const cases: readonly (readonly [string, string, WrappingKey, string])[] = [
    ['swapped to another passkey', sealed, another, key.publicKey],
    ['under the result of the other salt', sealed, { ...by, result: another.result }, key.publicKey],
    ['named after another passkey', sealed, { ...by, passkeyId: another.passkeyId }, key.publicKey],
    ['of another account', sealed, by, other.publicKey],
    ['of another key for the same passkey', await wrap(other, by), by, key.publicKey],
    ['empty', '', by, key.publicKey],
    ['no base64url', `${sealed}=`, by, key.publicKey],
    ['with a nonce alone', textOf(bytes.slice(0, 12)), by, key.publicKey],
    ['longer', textOf(new Uint8Array([...bytes, 0])), by, key.publicKey],
    ['whose public key is none', sealed, by, 'AAAA'],
    ...[1, 16, 31, 59].map((kept) => [`cut to ${kept}`, textOf(bytes.slice(0, kept)), by, key.publicKey] as const),
    ...[0, 11, 12, 43, 44, 59].map((at) => [`changed at ${at}`, flipped(at), by, key.publicKey] as const),
  ];
  for (const [what, text, opener, publicKey] of cases) assert.equal(await unwrap(text, opener, publicKey), null, what);
});

test('a bundle of a former version, which holds more or less than the key, opens nothing', async () => {
  const [key, by] = [await newOpenKey(), await passkey()];
  for (const bytes of [key.bytes.slice(1), new Uint8Array([...key.bytes, 1]), new Uint8Array(), new Uint8Array(32)]) {
    const sealed = await wrap({ ...key, bytes }, by);
    assert.equal(await unwrap(sealed, by, key.publicKey), null, String(bytes.length));
  }
});

test('what the browser keeps can be used and not read', async () => {
  const key = await newOpenKey();
  const { pair } = await sealedIn(key);
  assert.equal(pair.privateKey.extractable, false);
  for (const format of ['pkcs8', 'jwk'] as const)
    await assert.rejects(crypto.subtle.exportKey(format as 'jwk', pair.privateKey));
  wipe(key);
  assert.deepEqual(key.bytes, new Uint8Array(32));
});
