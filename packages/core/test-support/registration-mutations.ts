// One function for each negative registration vector: a valid ceremony with exactly that one change.
import { strict as assert } from 'node:assert';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { type Cbor, type CborMap, encodeCbor } from '../../../tests/support/cbor.ts';
import { newAuthenticator, signIn } from '../../../tests/support/client.ts';
import {
  type ClientData,
  type CreationAnswer,
  type CreationChanges,
  sha256,
} from '../../../tests/support/software-authenticator.ts';
import type { CeremonyStage } from './ceremony-stage.ts';

/** What each attempt must be refused for, in their order: faults of ceremonies, codes of other problems. */
export interface Mutation {
  readonly refusedFor: readonly string[];
  readonly run: (stage: CeremonyStage) => Promise<unknown>;
}

const UP = 0x01;
const AT = 0x40;
const ED = 0x80;
const FLAGS = 32;

function creation(fault: string, changes: CreationChanges, kept?: (answer: CreationAnswer) => unknown): Mutation {
  return {
    refusedFor: [fault],
    run: (stage) => stage.register(changes, kept === undefined ? {} : { kept }),
  };
}

function clientData(fault: string, change: (data: ClientData) => Record<string, unknown> | Buffer): Mutation {
  return creation(fault, { clientData: change });
}

function origin(change: (origin: string) => unknown): Mutation {
  return clientData('origin-differs', (data) => ({ ...data, origin: change(data.origin) }));
}

function authData(fault: string, change: (bytes: Buffer) => Buffer): Mutation {
  return creation(fault, { authData: change });
}

export function flag(set: number, clear = 0): (bytes: Buffer) => Buffer {
  return (bytes) => {
    const changed = Buffer.from(bytes);
    changed.writeUInt8((changed.readUInt8(FLAGS) | set) & ~clear, FLAGS);
    return changed;
  };
}

export function flipBit(bytes: Buffer, at: number): Buffer {
  const changed = Buffer.from(bytes);
  changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
  return changed;
}

function coseKey(fault: string, change: (key: CborMap) => Cbor): Mutation {
  return creation(fault, { coseKey: change });
}

/** Replaces, removes or repeats a member of a CBOR map. */
function member(map: CborMap, name: Cbor, change: (value: Cbor) => readonly Cbor[]): CborMap {
  return {
    pairs: map.pairs.flatMap(([key, value]) =>
      key === name ? change(value).map((to) => [key, to] as const) : [[key, value] as const],
    ),
  };
}

function bytesOf(value: Cbor): Buffer {
  assert.ok(Buffer.isBuffer(value));
  return value;
}

function mapOf(value: Cbor): CborMap {
  assert.ok(typeof value === 'object' && 'pairs' in value);
  return value;
}

function attestation(fault: string, change: (object: CborMap) => Cbor, format: 'none' | 'packed' = 'none'): Mutation {
  return creation(fault, { format, attestation: change });
}

function statement(change: (statement: CborMap) => Cbor): (object: CborMap) => Cbor {
  return (object) => member(object, 'attStmt', (value) => [change(mapOf(value))]);
}

const challengeTwice = (first: string, second: string, { type, origin }: ClientData) =>
  Buffer.from(
    `{"type":"${type}","challenge":"${first}","challenge":"${second}","origin":"${origin}","crossOrigin":false}`,
  );
const WRONG_CHALLENGE = Buffer.alloc(32, 7).toString('base64url');

function rsa512(): CborMap {
  const { n = '', e = '' } = generateKeyPairSync('rsa', { modulusLength: 512 }).publicKey.export({ format: 'jwk' });
  return {
    pairs: [
      [1, 3],
      [3, -257],
      [-1, Buffer.from(n, 'base64url')],
      [-2, Buffer.from(e, 'base64url')],
    ],
  };
}

export const registrationMutations: Readonly<Record<string, Mutation>> = {
  'register/type-get': clientData('type-differs', (data) => ({ ...data, type: 'webauthn.get' })),
  'register/type-case': clientData('type-differs', (data) => ({ ...data, type: 'webauthn.Create' })),
  'register/challenge-missing': clientData('challenge-differs', ({ challenge: _, ...data }) => data),
  'register/challenge-padded': clientData('challenge-differs', (data) => ({
    ...data,
    challenge: Buffer.from(data.challenge, 'base64url').toString('base64'),
  })),
  'register/challenge-of-login': {
    refusedFor: ['challenge-differs', 'challenge-of-another-operation'],
    async run(stage) {
      const login = await stage.browser().begin('/v1/auth/login/options');
      const { challenge } = login.publicKey;
      await stage.register({ clientData: (data) => ({ ...data, challenge }) });
      const browser = stage.browser();
      const options = await browser.begin('/v1/auth/register/options', { name: stage.newName() });
      const credential = newAuthenticator(stage.target).create(options, {
        clientData: (data) => ({ ...data, challenge }),
      });
      await stage.attempt(browser, '/v1/auth/register/verify', { challengeId: login.challengeId, credential });
    },
  },
  'register/challenge-replayed': {
    refusedFor: ['challenge-unknown'],
    async run(stage) {
      const browser = stage.browser();
      const options = await browser.begin('/v1/auth/register/options', { name: stage.newName() });
      const body = { challengeId: options.challengeId, credential: newAuthenticator(stage.target).create(options) };
      await browser.take('/v1/auth/register/verify', { body });
      await stage.attempt(browser, '/v1/auth/register/verify', body);
    },
  },
  'register/origin-other': origin(() => 'https://evil.example'),
  'register/origin-port': origin((own) => `${own}:8443`),
  'register/origin-suffix': origin((own) => `${own}.evil.example`),
  'register/origin-trailing-slash': origin((own) => `${own}/`),
  'register/origin-null': origin(() => 'null'),
  'register/origin-array': origin((own) => [own]),
  'register/cross-origin-true': clientData('cross-origin', (data) => ({ ...data, crossOrigin: true })),
  'register/client-data-not-json': clientData('client-data-malformed', () => Buffer.from('not json')),
  'register/client-data-duplicate-keys': {
    refusedFor: ['client-data-malformed', 'client-data-malformed'],
    async run(stage) {
      await stage.register({ clientData: (data) => challengeTwice(data.challenge, WRONG_CHALLENGE, data) });
      await stage.register({ clientData: (data) => challengeTwice(WRONG_CHALLENGE, data.challenge, data) });
    },
  },
  'register/client-data-invalid-utf8': clientData('client-data-malformed', (data) => {
    const bytes = Buffer.from(JSON.stringify(data));
    const at = bytes.indexOf('example');
    return Buffer.concat([bytes.subarray(0, at), Buffer.from([0xff]), bytes.subarray(at)]);
  }),
  'register/rpid-hash-flip': authData('rp-id-differs', (bytes) => flipBit(bytes, 0)),
  'register/rpid-hash-origin': authData('rp-id-differs', (bytes) =>
    Buffer.concat([sha256('https://shell.example.test'), bytes.subarray(32)]),
  ),
  'register/up-clear': authData('user-not-present', flag(0, UP)),
  'register/at-clear': authData('attestation-malformed', flag(0, AT)),
  'register/ed-set-no-data': authData('attestation-malformed', flag(ED)),
  'register/auth-data-36': authData('authenticator-data-malformed', (bytes) => bytes.subarray(0, 36)),
  'register/auth-data-trailing': authData('attestation-malformed', (bytes) => Buffer.concat([bytes, Buffer.alloc(1)])),
  'register/cred-id-length-1024': creation('credential-id-malformed', { credentialId: randomBytes(1024) }),
  'register/cred-id-mismatch': {
    refusedFor: ['credential-id-differs', 'credential-id-differs'],
    async run(stage) {
      const other = randomBytes(32).toString('base64url');
      await stage.register({}, { kept: (answer) => ({ ...answer, rawId: other }) });
      await stage.register({}, { kept: (answer) => ({ ...answer, id: other, rawId: other }) });
    },
  },
  'register/cred-id-taken': {
    refusedFor: ['credential-taken'],
    async run(stage) {
      const { authenticator } = await stage.account();
      const [taken] = authenticator.credentials;
      assert.ok(taken !== undefined);
      await stage.register({ credentialId: taken.id });
    },
  },
  'register/cose-alg-missing': coseKey('attestation-malformed', (key) => member(key, 3, () => [])),
  'register/cose-not-on-curve': coseKey('public-key-malformed', (key) =>
    member(key, -3, (y) => [flipBit(bytesOf(y), 31)]),
  ),
  'register/cose-y-bool': coseKey('public-key-malformed', (key) => member(key, -3, () => [true])),
  'register/cose-wrong-curve': coseKey('public-key-malformed', (key) => member(key, -1, () => [8])),
  'register/cose-duplicate-label': coseKey('attestation-malformed', (key) => member(key, 3, (alg) => [alg, alg])),
  'register/cose-rsa-512': coseKey('public-key-malformed', rsa512),
  'register/att-not-map': attestation('attestation-malformed', (object) => object.pairs.flat()),
  'register/att-fmt-missing': attestation('attestation-malformed', (object) => member(object, 'fmt', () => [])),
  'register/att-packed-sig-flip': attestation(
    'attestation-wrong',
    statement((packed) => member(packed, 'sig', (sig) => [flipBit(bytesOf(sig), bytesOf(sig).length - 1)])),
    'packed',
  ),
  'register/att-packed-client-data-swap': creation('attestation-wrong', { format: 'packed' }, (answer) => {
    const data = JSON.parse(Buffer.from(answer.response.clientDataJSON, 'base64url').toString());
    const other = Buffer.from(JSON.stringify({ ...data, other: true })).toString('base64url');
    return { ...answer, response: { ...answer.response, clientDataJSON: other } };
  }),
  'register/att-packed-x5c-empty': attestation(
    'attestation-malformed',
    statement((packed) => ({ pairs: [...packed.pairs, ['x5c', []]] })),
    'packed',
  ),
  'register/att-cbor-indefinite': attestation('attestation-malformed', (object) => ({
    raw: Buffer.concat([Buffer.from([0xbf]), ...object.pairs.flat().map(encodeCbor), Buffer.from([0xff])]),
  })),
  'register/att-cbor-depth': attestation('attestation-malformed', () => ({
    raw: Buffer.concat([Buffer.alloc(10_000, 0x81), Buffer.from([0x80])]),
  })),
  'register/att-cbor-duplicate-authdata': attestation('attestation-malformed', (object) =>
    member(object, 'authData', (value) => [value, value]),
  ),
  'register/type-field': creation('invalid_request', {}, (answer) => ({ ...answer, type: 'password' })),
  'register/base64-garbage': creation('invalid_request', {}, (answer) => {
    const { attestationObject } = answer.response;
    const garbage = `${attestationObject.slice(0, 20)}\n!${attestationObject.slice(20)}`;
    return { ...answer, response: { ...answer.response, attestationObject: garbage } };
  }),
  'register/wrong-account-session': {
    refusedFor: ['challenge-of-another-session', 'challenge-of-another-session'],
    async run(stage) {
      const owner = await stage.account();
      const stranger = await stage.account();
      const elsewhere = await signIn(stage.target, owner.authenticator);
      for (const { browser } of [stranger, elsewhere]) {
        const options = await owner.browser.begin('/v1/auth/passkeys/options');
        const body = { challengeId: options.challengeId, credential: newAuthenticator(stage.target).create(options) };
        await stage.attempt(browser, '/v1/auth/passkeys/verify', body);
      }
    },
  },
  'register/exclude-credentials': {
    refusedFor: ['credential-taken'],
    async run(stage) {
      const { browser, authenticator } = await stage.account();
      const options = await browser.begin('/v1/auth/passkeys/options');
      assert.throws(() => authenticator.create(options), /excluded/, 'the options do not name the existing passkey');
      const [existing] = authenticator.credentials;
      assert.ok(existing !== undefined);
      const credential = newAuthenticator(stage.target).create(options, { credentialId: existing.id });
      await stage.attempt(browser, '/v1/auth/passkeys/verify', { challengeId: options.challengeId, credential });
    },
  },
  'register/signed-out-midway': {
    refusedFor: ['unauthenticated', 'challenge-unknown'],
    async run(stage) {
      const { browser, authenticator } = await stage.account();
      const options = await browser.begin('/v1/auth/passkeys/options');
      const body = { challengeId: options.challengeId, credential: newAuthenticator(stage.target).create(options) };
      const { cookie } = browser;
      await browser.take('/v1/auth/logout', { body: {} });
      await stage.attempt(browser, '/v1/auth/passkeys/verify', body, { headers: { cookie } });
      await signIn(stage.target, authenticator, browser);
      await stage.attempt(browser, '/v1/auth/passkeys/verify', body);
    },
  },
};
