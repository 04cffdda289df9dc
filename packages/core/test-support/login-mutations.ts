// One function for each negative sign-in vector: a valid ceremony with exactly that one change.
import { strict as assert } from 'node:assert';
import { constants, generateKeyPairSync, privateEncrypt, randomBytes, sign } from 'node:crypto';
import { confirm, newAuthenticator, signIn, type TestAccount } from '../../../tests/support/client.ts';
import {
  type Algorithm,
  type ClientData,
  type RequestAnswer,
  type RequestChanges,
  sha256,
  signWith,
} from '../../../tests/support/software-authenticator.ts';
import type { CeremonyStage } from './ceremony-stage.ts';
import { flag, flipBit, type Mutation } from './registration-mutations.ts';

const UP = 0x01;
const BACKED_UP = 0x10;
const ED = 0x80;

interface Request extends RequestChanges {
  readonly kept?: (answer: RequestAnswer) => unknown;
  readonly algorithm?: Algorithm;
  readonly counts?: boolean;
}

/** A sign-in to a new account, valid but for one change. */
function request(fault: string, { kept, algorithm = 'ES256', counts = false, ...changes }: Request): Mutation {
  return {
    refusedFor: [fault],
    async run(stage) {
      const account = await stage.account({ algorithm, counts });
      await stage.signIn(account, changes, kept);
      await provesValid(stage, account);
    },
  };
}

/** The same account signs in without the change, so the change is what was judged. */
async function provesValid(stage: CeremonyStage, { name, authenticator }: TestAccount): Promise<void> {
  assert.equal((await signIn(stage.target, authenticator)).name, name);
}

function clientData(fault: string, change: (data: ClientData) => Record<string, unknown>): Mutation {
  return request(fault, { clientData: change });
}

function signature(change: NonNullable<RequestChanges['signature']>, algorithm: Algorithm = 'ES256'): Mutation {
  return request('signature-wrong', { signature: change, algorithm });
}

function response(answer: RequestAnswer, members: Record<string, unknown>): unknown {
  return { ...answer, response: { ...answer.response, ...members } };
}

/** ECDSA numbers of a DER signature (X.690): the first, and where it ends. */
function firstNumber(der: Buffer): { number: Buffer; end: number } {
  const end = 4 + der.readUInt8(3);
  return { number: der.subarray(4, end), end };
}

/** A signature whose first number has its top bit set, with the zero that makes it positive left out. */
function negativeR(valid: Buffer, signed: Buffer, sign: (data: Buffer) => Buffer): Buffer {
  for (let der = valid; ; der = sign(signed)) {
    const { number, end } = firstNumber(der);
    if (number.length !== 33) continue;
    const rest = Buffer.concat([Buffer.from([0x02, 32]), number.subarray(1), der.subarray(end)]);
    return Buffer.concat([Buffer.from([0x30, rest.length]), rest]);
  }
}

/** The order of the Ed25519 group (RFC 8032, section 5.1). */
const GROUP_ORDER = 2n ** 252n + 27_742_317_777_372_353_535_851_937_790_883_648_493n;

function scalarPlusOrder(valid: Buffer): Buffer {
  const scalar = BigInt(`0x${Buffer.from(valid.subarray(32)).reverse().toString('hex')}`) + GROUP_ORDER;
  const bytes = Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex').reverse();
  return Buffer.concat([valid.subarray(0, 32), bytes]);
}

/** PKCS #1 v1.5 with too little padding and garbage after the digest: what sloppy verifiers took as valid. */
function bleichenbacher(signed: Buffer, key: Parameters<typeof privateEncrypt>[0] & object): Buffer {
  const digestInfo = Buffer.concat([Buffer.from('3031300d060960864801650304020105000420', 'hex'), sha256(signed)]);
  const block = Buffer.alloc(256, 0x41);
  Buffer.concat([Buffer.from([0, 1]), Buffer.alloc(8, 0xff), Buffer.from([0]), digestInfo]).copy(block);
  return privateEncrypt({ key: key as never, padding: constants.RSA_NO_PADDING }, block);
}

export const loginMutations: Readonly<Record<string, Mutation>> = {
  'login/type-payment': clientData('type-differs', (data) => ({ ...data, type: 'payment.get' })),
  'login/challenge-replayed': {
    refusedFor: ['challenge-unknown'],
    async run(stage) {
      const { authenticator } = await stage.account();
      const browser = stage.browser();
      const options = await browser.begin('/v1/auth/login/options');
      const body = { challengeId: options.challengeId, credential: authenticator.get(options) };
      await browser.take('/v1/auth/login/verify', { body });
      await stage.attempt(browser, '/v1/auth/login/verify', body);
    },
  },
  'login/challenge-expired': {
    refusedFor: ['challenge-expired'],
    async run(stage) {
      const account = await stage.account();
      const browser = stage.browser();
      const options = await browser.begin('/v1/auth/login/options');
      const credential = account.authenticator.get(options);
      stage.passTime(stage.constellation.core.context.config.challengeMilliseconds);
      await stage.attempt(browser, '/v1/auth/login/verify', { challengeId: options.challengeId, credential });
      await provesValid(stage, account);
    },
  },
  'login/challenge-of-other-session': {
    refusedFor: ['challenge-differs'],
    async run(stage) {
      const account = await stage.account();
      const other = await stage.browser().begin('/v1/auth/login/options');
      await stage.signIn(account, { clientData: (data) => ({ ...data, challenge: other.publicKey.challenge }) });
    },
  },
  'login/origin-http': clientData('origin-differs', (data) => ({
    ...data,
    origin: data.origin.replace('https:', 'http:'),
  })),
  'login/origin-idn-lookalike': clientData('origin-differs', (data) => ({
    ...data,
    origin: data.origin.replace('e', '\u0435'),
  })),
  'login/rpid-hash-other': request('rp-id-differs', {
    authData: (bytes) => Buffer.concat([sha256('evil.example'), bytes.subarray(32)]),
  }),
  'login/up-clear': request('user-not-present', { authData: flag(0, UP) }),
  'login/bs-without-be': request('backup-flags-contradict', { counts: true, authData: flag(BACKED_UP) }),
  'login/ed-set-no-data': request('assertion-malformed', { authData: flag(ED) }),
  'login/auth-data-short': request('authenticator-data-malformed', { authData: (bytes) => bytes.subarray(0, 36) }),
  'login/auth-data-empty': request('authenticator-data-malformed', { authData: () => Buffer.alloc(0) }),
  'login/counter-same': request('counter-not-greater', {
    counts: true,
    authData: (bytes) => {
      const same = Buffer.from(bytes);
      same.writeUInt32BE(same.readUInt32BE(33) - 1, 33);
      return same;
    },
  }),
  'login/sig-flip': signature((valid) => flipBit(valid, valid.length - 1)),
  'login/sig-other-key': signature((_valid, signed) =>
    sign('sha256', signed, generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey),
  ),
  'login/sig-over-client-hash-only': signature((_valid, signed, credential) =>
    signWith(credential, signed.subarray(-32)),
  ),
  'login/sig-der-trailing': signature((valid) => Buffer.concat([valid, Buffer.alloc(1)])),
  'login/sig-r-zero': signature(() => Buffer.from('3006020100020100', 'hex')),
  'login/sig-negative-r': signature((valid, signed, credential) =>
    negativeR(valid, signed, (data) => signWith(credential, data)),
  ),
  'login/sig-ed25519-s-plus-l': signature(scalarPlusOrder, 'EdDSA'),
  'login/sig-rs256-sha1': signature((_valid, signed, credential) => signWith(credential, signed, 'sha1'), 'RS256'),
  'login/sig-rs256-bleichenbacher': signature(
    (_valid, signed, { privateKey }) => bleichenbacher(signed, privateKey),
    'RS256',
  ),
  'login/client-data-reserialised': request('signature-wrong', {
    sentClientData: (bytes) => {
      const members = Object.entries(JSON.parse(bytes.toString()) as Record<string, unknown>);
      return Buffer.from(JSON.stringify(Object.fromEntries(members.reverse())));
    },
  }),
  'login/cred-id-unknown': request('credential-unknown', {
    kept: (answer) => {
      const id = randomBytes(32).toString('base64url');
      return { ...answer, id, rawId: id };
    },
  }),
  'login/cred-id-deleted': {
    refusedFor: ['credential-unknown'],
    async run(stage) {
      const account = await stage.account();
      const first = await account.browser.take<{ items: { id: string }[] }>('/v1/auth/passkeys');
      const spare = newAuthenticator(stage.target);
      const adding = await account.browser.begin('/v1/auth/passkeys/options');
      const added = { challengeId: adding.challengeId, credential: spare.create(adding) };
      await account.browser.take('/v1/auth/passkeys/verify', { body: added });
      const browser = stage.browser();
      const options = await browser.begin('/v1/auth/login/options');
      const credential = account.authenticator.get(options);
      const id = first.items[0]?.id;
      const confirmation = await confirm({ ...account, authenticator: spare }, 'passkey.remove', id);
      await account.browser.take(`/v1/auth/passkeys/${id}`, { method: 'DELETE', body: { confirmation } });
      await stage.attempt(browser, '/v1/auth/login/verify', { challengeId: options.challengeId, credential });
      await provesValid(stage, { ...account, authenticator: spare });
    },
  },
  'login/id-rawid-mismatch': {
    refusedFor: ['credential-id-differs', 'credential-unknown'],
    async run(stage) {
      const account = await stage.account();
      const other = randomBytes(32).toString('base64url');
      await stage.signIn(account, {}, (answer) => ({ ...answer, rawId: other }));
      await stage.signIn(account, {}, (answer) => ({ ...answer, id: other }));
    },
  },
  'login/user-handle-missing-discoverable': {
    refusedFor: ['user-handle-differs', 'user-handle-differs'],
    async run(stage) {
      const account = await stage.account();
      await stage.signIn(account, {}, (answer) => response(answer, { userHandle: null }));
      await stage.signIn(account, {}, (answer) => response(answer, { userHandle: undefined }));
    },
  },
  'login/account-suspended': {
    refusedFor: ['credential-unknown'],
    async run(stage) {
      const { name, authenticator } = await stage.account();
      const browser = stage.browser();
      const options = await browser.begin('/v1/auth/login/options');
      const credential = authenticator.get(options);
      const { pool } = stage.constellation.core.context;
      await pool.query('UPDATE accounts SET suspended_at = now() WHERE name = $1', [name]);
      await stage.attempt(browser, '/v1/auth/login/verify', { challengeId: options.challengeId, credential });
    },
  },
  'login/response-array': request('invalid_request', { kept: (answer) => ({ ...answer, response: [] }) }),
  'login/body-huge': request('payload_too_large', {
    kept: (answer) => response(answer, { signature: 'A'.repeat(2 * 1024 * 1024) }),
  }),
  'login/origin-header-foreign': {
    refusedFor: ['origin_not_allowed'],
    async run(stage) {
      const { authenticator } = await stage.account();
      const browser = stage.browser();
      const options = await browser.begin('/v1/auth/login/options');
      const body = { challengeId: options.challengeId, credential: authenticator.get(options) };
      const headers = { origin: 'https://evil.example' };
      await stage.attempt(browser, '/v1/auth/login/verify', body, { headers });
    },
  },
  'login/method-get': {
    refusedFor: ['method_not_allowed'],
    async run(stage) {
      const { authenticator } = await stage.account();
      const browser = stage.browser();
      const options = await browser.begin('/v1/auth/login/options');
      const credential = JSON.stringify(authenticator.get(options));
      const query = new URLSearchParams({ challengeId: options.challengeId, credential });
      await stage.attempt(browser, `/v1/auth/login/verify?${query}`, undefined, { method: 'GET' });
    },
  },
  'login/begin-not-called': {
    refusedFor: ['challenge-unknown'],
    async run(stage) {
      const { authenticator } = await stage.account();
      const credential = authenticator.get({ publicKey: { challenge: randomBytes(32).toString('base64url') } });
      const challengeId = 'chl-01a1fdb4-21e8-7837-bad1-691d8f4d3f6a';
      await stage.attempt(stage.browser(), '/v1/auth/login/verify', { challengeId, credential });
    },
  },
  'login/enumeration': {
    refusedFor: ['invalid_request', 'invalid_request'],
    async run(stage) {
      const { name } = await stage.account();
      const known = await stage.attempt(stage.browser(), '/v1/auth/login/options', { name });
      const unknown = await stage.attempt(stage.browser(), '/v1/auth/login/options', { name: 'nobody-here' });
      assert.equal(known.answer.status, unknown.answer.status);
      const shape = ({ answer }: typeof known) => ({ ...(answer.json as object), requestId: '' });
      assert.deepEqual(shape(known), shape(unknown));
    },
  },
  'login/appid-extension': request('rp-id-differs', {
    authData: (bytes) => Buffer.concat([sha256('https://shell.example.test/appid.json'), bytes.subarray(32)]),
    kept: (answer) => ({ ...answer, clientExtensionResults: { appid: true } }),
  }),
  'login/es256-with-sha384': signature((_valid, signed, credential) => signWith(credential, signed, 'sha384')),
};
