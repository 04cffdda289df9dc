// Passkeys with a degenerate key (forgeable, or unable to verify) or attested by another key do not register.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { CborMap } from '../../../../../tests/support/cbor.ts';
import { newAuthenticator, signIn } from '../../../../../tests/support/client.ts';
import type { Algorithm } from '../../../../../tests/support/software-authenticator.ts';
import { CeremonyStage } from '../../../test-support/ceremony-stage.ts';

let stage: CeremonyStage;
before(async () => {
  stage = await CeremonyStage.start();
});
after(() => stage.close());

function edwards(hex: string): CborMap {
  return {
    pairs: [
      [1, 1],
      [3, -8],
      [-1, 6],
      [-2, Buffer.from(hex, 'hex')],
    ],
  };
}

function elliptic(x: string, y: string): CborMap {
  return {
    pairs: [
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, 'hex')],
      [-3, Buffer.from(y, 'hex')],
    ],
  };
}

const { n = '', e = '' } = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' });
const modulus = Buffer.from(n, 'base64url');
const exponent = Buffer.from(e, 'base64url');

function rsa(change: { n?: Buffer; e?: Buffer }): CborMap {
  return {
    pairs: [
      [1, 3],
      [3, -257],
      [-1, change.n ?? modulus],
      [-2, change.e ?? exponent],
    ],
  };
}

const even = Buffer.from(modulus);
even.writeUInt8(even.readUInt8(255) & 0xfe, 255);
const small = Buffer.from(modulus.subarray(128));
small.writeUInt8(small.readUInt8(0) | 0x80, 0);
const zero = '00'.repeat(32);

const degenerate: readonly (readonly [string, Algorithm, CborMap])[] = [
  ['the neutral element of Ed25519', 'EdDSA', edwards(`01${'00'.repeat(31)}`)],
  ['a point of order 2', 'EdDSA', edwards(`ec${'ff'.repeat(30)}7f`)],
  ['a point of order 4', 'EdDSA', edwards(zero)],
  ['a point of order 8', 'EdDSA', edwards('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05')],
  ['its negative', 'EdDSA', edwards('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85')],
  ['another point of order 8', 'EdDSA', edwards('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a')],
  ['the neutral element in another spelling', 'EdDSA', edwards(`ee${'ff'.repeat(30)}7f`)],
  ['no point of Ed25519', 'EdDSA', edwards(`02${'00'.repeat(31)}`)],
  ['zeros for a point of P-256', 'ES256', elliptic(zero, zero)],
  // The point with x = 5, written as x + p.
  [
    'a coordinate beyond the field of P-256',
    'ES256',
    elliptic(
      'ffffffff00000001000000000000000000000001000000000000000000000004',
      '459243b9aa581806fe913bce99817ade11ca503c64d9a3c533415c083248fbcc',
    ),
  ],
  ['an RSA exponent of 1', 'RS256', rsa({ e: Buffer.from([1]) })],
  ['an even RSA exponent', 'RS256', rsa({ e: Buffer.from([1, 0, 0]) })],
  ['an RSA exponent of 2,048 bits', 'RS256', rsa({ e: modulus })],
  ['an RSA exponent with a leading zero', 'RS256', rsa({ e: Buffer.concat([Buffer.alloc(1), exponent]) })],
  ['an even RSA modulus', 'RS256', rsa({ n: even })],
  ['an RSA modulus with a leading zero', 'RS256', rsa({ n: Buffer.concat([Buffer.alloc(1), modulus]) })],
  ['an RSA modulus of 1,024 bits', 'RS256', rsa({ n: small })],
  ['an RSA modulus of no bytes', 'RS256', rsa({ n: Buffer.alloc(0) })],
];
for (const [what, algorithm, key] of degenerate) {
  test(`${what} is no key of a passkey`, async () => {
    const { refusedFor } = await stage.register({ coseKey: () => key }, { algorithm });
    assert.equal(refusedFor, 'public-key-malformed');
  });
}

for (const [what, alg] of [
  ['another algorithm than the key', -257],
  ['an algorithm as text', '-7'],
  ['no algorithm', undefined],
] as const) {
  test(`a self attestation that names ${what} is refused`, async () => {
    const { refusedFor } = await stage.register({
      format: 'packed',
      attestation: (object) => ({
        pairs: object.pairs.map(([name, value]) => {
          if (name !== 'attStmt' || typeof value !== 'object' || !('pairs' in value)) return [name, value] as const;
          const others = value.pairs.filter(([member]) => member !== 'alg');
          return [name, { pairs: alg === undefined ? others : [['alg', alg] as const, ...others] }] as const;
        }),
      }),
    });
    assert.match(refusedFor, /^attestation-(wrong|malformed)$/);
  });
}

for (const algorithm of ['ES256', 'EdDSA', 'RS256'] satisfies Algorithm[]) {
  test(`a self attestation with the key's own algorithm ${algorithm} registers`, async () => {
    const browser = stage.browser();
    const authenticator = newAuthenticator(stage.target, { algorithm });
    const options = await browser.begin('/v1/auth/register/options', { name: stage.newName() });
    const credential = authenticator.create(options, { format: 'packed' });
    await browser.take('/v1/auth/register/verify', { body: { challengeId: options.challengeId, credential } });
    await signIn(stage.target, authenticator);
  });
}
