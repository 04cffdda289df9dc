// The credential of a part as that part sees it: renewed by a proof, once for all who need it, and never without a key.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { openCredentials, type Proof, RemovedError } from './credentials.ts';
import { keyFromSeed, publicKeyText, verifyText } from './key.ts';

const key = keyFromSeed(Buffer.alloc(32, 7));
const coreHost = 'core.test';
const proof: Proof = {
  challengePath: '/challenge',
  credentialPath: '/credential',
  text: (host, nonce) => `a proof\n${host}\n${nonce}`,
  readNonce: (body) => (body as { nonce: string }).nonce,
  readCredential: (body) => (body as { credential: string }).credential,
  seconds: 3_600,
};
let uptime: number;
let proofs: { nonce: string; signature: string; publicKey: string }[];
let refusal: number | undefined;

beforeEach(() => {
  [uptime, proofs, refusal] = [0, [], undefined];
});

async function core(path: string, body: object): Promise<{ status: number; body: unknown }> {
  if (path === '/challenge') return { status: 200, body: { nonce: `nonce-${proofs.length}` } };
  if (refusal !== undefined) return { status: refusal, body: {} };
  proofs.push(body as (typeof proofs)[number]);
  return { status: 200, body: { credential: `pnd_${proofs.length}` } };
}

function open(initial?: string) {
  return openCredentials({ proof, key, coreHost, initial, uptime: () => uptime, call: core });
}

test('without a credential the first is got by a proof with the key, for this core', async () => {
  assert.equal(await open().current(), 'pnd_1');
  const [first] = proofs;
  assert.ok(first !== undefined && first.publicKey === publicKeyText(key.publicKey));
  assert.ok(verifyText(key.publicKey, proof.text(coreHost, first.nonce), first.signature));
});

test('it is renewed when half of its life is over', async () => {
  const credentials = open('pnd_0');
  uptime = proof.seconds * 500 - 1;
  assert.equal(await credentials.current(), 'pnd_0');
  uptime += 1;
  assert.equal(await credentials.current(), 'pnd_1');
  assert.equal(await credentials.current(), 'pnd_1');
});

test('many who were refused at once share one renewal; who was refused with an older one takes the newest', async () => {
  const credentials = open('pnd_0');
  const renewed = await Promise.all(Array.from({ length: 5 }, () => credentials.after('pnd_0')));
  assert.deepEqual(new Set(renewed), new Set(['pnd_1']));
  assert.equal(await credentials.after('pnd_0'), 'pnd_1');
  assert.equal(proofs.length, 1);
});

test('a key that core does not know is distinguished from a core that is away', async () => {
  const credentials = open('pnd_0');
  refusal = 503;
  await assert.rejects(credentials.after('pnd_0'), /no credential: 503/);
  refusal = 401;
  await assert.rejects(credentials.after('pnd_0'), RemovedError);
  refusal = undefined;
  assert.equal(await credentials.after('pnd_0'), 'pnd_1');
});
