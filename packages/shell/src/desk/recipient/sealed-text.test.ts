// What an app sealed opens for the same app and key alone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Aes256Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from '@hpke/core';
import { bytesOf, textOf } from './base64url.ts';
import { newOpenKey, type RecipientKey, sealedIn } from './recipient-key.ts';
import { keyIdOf, openText, readSealed, sealText } from './sealed-text.ts';

const newKey = async (): Promise<RecipientKey> => sealedIn(await newOpenKey());
const PLAIN = new TextEncoder().encode('Dear diary');

async function opened(key: RecipientKey, appId: string, sealed: string): Promise<string | null> {
  const read = readSealed(sealed);
  const bytes = read === null ? null : await openText(key, appId, read);
  return bytes === null ? null : new TextDecoder().decode(bytes);
}

test('it opens for the app that sealed it, whatever its length', async () => {
  const key = await newKey();
  const sealed = await sealText(key, 'diary', PLAIN);
  assert.equal(await opened(key, 'diary', sealed), 'Dear diary');
  assert.equal(readSealed(sealed)?.keyId, await keyIdOf(key.publicKey));
  assert.notEqual(await sealText(key, 'diary', PLAIN), sealed);
  for (const length of [0, 1, 32_768]) {
    const text = 'x'.repeat(length);
    assert.equal(await opened(key, 'diary', await sealText(key, 'diary', new TextEncoder().encode(text))), text);
  }
});

test('it is HPKE as the specification of it says', async () => {
  const key = await newKey();
  const suite = new CipherSuite({ kem: new DhkemX25519HkdfSha256(), kdf: new HkdfSha256(), aead: new Aes256Gcm() });
  const bytes = Buffer.from(await sealText(key, 'diary', PLAIN), 'base64url');
  assert.equal(bytes.length, 1 + 8 + 32 + PLAIN.length + 16);
  const setup = {
    recipientKey: key.pair,
    info: Buffer.from('platform/recipient/app/v1'),
    enc: Uint8Array.from(bytes.subarray(9, 41)),
  };
  const plain = await suite.open(setup, Uint8Array.from(bytes.subarray(41)), Buffer.from('["app","diary"]'));
  assert.equal(Buffer.from(plain).toString(), 'Dear diary');
});

test('another app, another key, a changed byte and a cut text open nothing', async () => {
  const [key, other] = [await newKey(), await newKey()];
  const sealed = await sealText(key, 'diary', PLAIN);
  for (const appId of ['dairy', 'diary2', 'diar', '', 'diary"]', 'DIARY'])
    assert.equal(await opened(key, appId, sealed), null, appId);
  assert.equal(await opened(other, 'diary', sealed), null);
  const bytes = bytesOf(sealed) ?? new Uint8Array();
  for (const at of bytes.keys()) {
    // The id of the key only says which one to try.
    if (at >= 1 && at <= 8) continue;
    const changed = textOf(bytes.map((byte, index) => (index === at ? byte ^ 1 : byte)));
    assert.equal(await opened(key, 'diary', changed), null, `changed at ${at}`);
    assert.equal(await opened(key, 'diary', textOf(bytes.slice(0, at))), null, `cut to ${at}`);
  }
  for (const text of ['', '=', 'AQAA', `${sealed}A`, 'é']) assert.equal(await opened(key, 'diary', text), null, text);
});
