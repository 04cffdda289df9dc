import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Aes256Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from '@hpke/core';
import { type EnvelopeContext, EnvelopeOpener, newEnvelopeKey, sealEnvelope } from './envelope.ts';
import { AesGcm, Hkdf, X25519Kem } from './hpke-primitives.ts';

interface Vector {
  readonly aead_id: number;
  readonly info: string;
  readonly skRm: string;
  readonly pkRm: string;
  readonly enc: string;
  readonly encryptions: readonly { readonly aad: string; readonly ct: string; readonly pt: string }[];
}

const vectors = JSON.parse(readFileSync(new URL('../test-vectors/hpke-rfc9180.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly Vector[];
};
const CONTEXT: EnvelopeContext = { purpose: 'outbound', installationId: 'inst-1', bound: ['https://api.example.com'] };
const key = await newEnvelopeKey();
const publicKey = Buffer.from(key.publicKey, 'base64url');
const SECRET = Buffer.from('a secret that nobody reads on the way');

const ours = new CipherSuite({ kem: new X25519Kem(), kdf: new Hkdf(), aead: new AesGcm() });
const ofTheLibrary = new CipherSuite({
  kem: new DhkemX25519HkdfSha256(),
  kdf: new HkdfSha256(),
  aead: new Aes256Gcm(),
});
const SUITES = [
  ['Node’s primitives', ours, ofTheLibrary],
  ['those of the library', ofTheLibrary, ours],
] as const;

for (const [what, suite, other] of SUITES) {
  test(`${what} open the messages of RFC 9180 under this suite`, async () => {
    const vector = vectors.cases.filter(({ aead_id }) => aead_id === 2);
    assert.equal(vector.length, 1);
    for (const { info, skRm, pkRm, enc, encryptions } of vector) {
      const recipientKey = {
        privateKey: await suite.kem.deserializePrivateKey(Buffer.from(skRm, 'hex')),
        publicKey: await suite.kem.deserializePublicKey(Buffer.from(pkRm, 'hex')),
      };
      const setup = { recipientKey, info: Buffer.from(info, 'hex'), enc: Buffer.from(enc, 'hex') };
      const context = await suite.createRecipientContext(setup);
      for (const { aad, ct, pt } of encryptions.slice(0, 2)) {
        const opened = await context.open(Buffer.from(ct, 'hex'), Buffer.from(aad, 'hex'));
        assert.equal(Buffer.from(opened).toString('hex'), pt);
      }
    }
  });

  test(`what ${what} seal the others open`, async () => {
    const pair = await suite.kem.generateKeyPair();
    const info = Buffer.from('what it is for');
    const { enc, ct } = await suite.seal({ recipientPublicKey: pair.publicKey, info }, SECRET, Buffer.from('about'));
    const opened = await other.open({ recipientKey: pair, info, enc }, ct, Buffer.from('about'));
    assert.deepEqual(Buffer.from(opened), SECRET);
  });
}

test('what is sealed opens with its key and in its context', async () => {
  const sealed = await sealEnvelope(publicKey, CONTEXT, SECRET);
  assert.deepEqual(await new EnvelopeOpener(key).open(CONTEXT, sealed), SECRET);
  assert.ok(!Buffer.from(sealed, 'base64url').includes(SECRET));
  assert.notEqual(await sealEnvelope(publicKey, CONTEXT, SECRET), sealed, 'each envelope has a key of its own');
});

for (const [what, other] of [
  ['another purpose', { ...CONTEXT, purpose: 'intelligence' }],
  ['another installation', { ...CONTEXT, installationId: 'inst-2' }],
  ['another origin', { ...CONTEXT, bound: ['https://api.example.org'] }],
  ['the same words, divided otherwise', { ...CONTEXT, bound: ['https://api', '.example.com'] }],
] as const) {
  test(`it stays closed for ${what}`, async () => {
    const sealed = await sealEnvelope(publicKey, CONTEXT, SECRET);
    await assert.rejects(new EnvelopeOpener(key).open(other, sealed));
  });
}

test('it stays closed for another key, and when a byte of it was changed or cut off', async () => {
  const sealed = Buffer.from(await sealEnvelope(publicKey, CONTEXT, SECRET), 'base64url');
  await assert.rejects(new EnvelopeOpener(await newEnvelopeKey()).open(CONTEXT, sealed.toString('base64url')));
  const opener = new EnvelopeOpener(key);
  for (const position of [0, 31, 32, sealed.length - 1]) {
    const changed = Buffer.from(sealed);
    changed[position] = (changed[position] ?? 0) ^ 1;
    await assert.rejects(opener.open(CONTEXT, changed.toString('base64url')), `byte ${position}`);
  }
  await assert.rejects(opener.open(CONTEXT, sealed.subarray(0, 20).toString('base64url')));
});
