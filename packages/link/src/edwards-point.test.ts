// Degenerate keys, for which signatures can be forged or never verify, are refused.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { isUsablePoint } from './edwards-point.ts';
import { keyFromSeed, publicKeyText, readPublicKey } from './key.ts';

/** Both encodings of every point of small order, also those with y ≥ p or a sign for x = 0. */
const weakPoints = [
  '0100000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000080',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0000000000000000000000000000000000000000000000000000000000000080',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
].map((hex) => Buffer.from(hex, 'hex'));

test('points of small order and encodings that are not canonical are no public keys', () => {
  for (const point of weakPoints) {
    assert.equal(isUsablePoint(point), false, point.toString('hex'));
    assert.equal(readPublicKey(publicKeyText(point)), null);
  }
});

test('bytes that are no point of the curve, or not 32, are no public keys', () => {
  const two = Buffer.alloc(32);
  two[0] = 2;
  assert.equal(isUsablePoint(two), false, 'no point has y = 2');
  assert.equal(isUsablePoint(Buffer.alloc(31, 7)), false);
  assert.equal(isUsablePoint(Buffer.alloc(33, 7)), false);
});

test('every key that is made is one', () => {
  for (let seed = 0; seed < 50; seed += 1) {
    const { publicKey } = keyFromSeed(Buffer.alloc(32, seed));
    assert.deepEqual(readPublicKey(publicKeyText(publicKey)), publicKey);
  }
  const { x = '' } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  assert.equal(isUsablePoint(Buffer.from(x, 'base64url')), true);
});
