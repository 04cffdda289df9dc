// Secret material never gets in: every vector by the function and over HTTP, and properties beyond the vectors.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { wordlist as english } from '@scure/bip39/wordlists/english.js';
import { newAuthenticator, registerAccount, TestBrowser } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { fc } from '../../../../tests/support/fast-check.ts';
import { problemCode, type RawAnswer } from '../../../../tests/support/raw-http.ts';
import { thorough } from '../../../../tests/support/thorough.ts';
import { databaseText } from '../../test-support/database-sweep.ts';
import { findForbiddenMaterial } from './forbidden-material.ts';

interface Case {
  readonly name: string;
  readonly base: string;
  readonly patch?: readonly { readonly path: string; readonly value: unknown }[];
  readonly rawBody?: string;
  readonly expected: 'refuse' | 'accept' | 'either';
}

const vectors: { bases: Record<string, object>; cases: Case[] } = JSON.parse(
  readFileSync(new URL('../../test-vectors/forbidden-material.json', import.meta.url), 'utf8'),
);

/** JSON Patch `add`, missing parents made. */
function patched(base: object, patch: Case['patch'] = []): Record<string, unknown> {
  const body = structuredClone(base) as Record<string, unknown>;
  for (const { path, value } of patch) {
    const names = path.split('/').slice(1);
    const last = names.pop() ?? '';
    let parent = body;
    for (const name of names) {
      parent[name] ??= {};
      parent = parent[name] as Record<string, unknown>;
    }
    parent[last] = value;
  }
  return body;
}

function bodyOf({ base, patch, rawBody }: Case): string {
  return rawBody ?? JSON.stringify(patched(vectors.bases[base] ?? {}, patch));
}

/** What of a case must be found nowhere afterwards: every longer text and list in it that is a secret. */
function secretsOf({ patch = [], rawBody }: Case): string[] {
  const texts = rawBody === undefined ? leaves(patch.map(({ value }) => value)) : (rawBody.match(/[\w-]{32,}/g) ?? []);
  return texts.filter((text) => text.length >= 12);
}

function leaves(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value) && value.length > 8) return [JSON.stringify(value).slice(1, -1), ...value.flatMap(leaves)];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : [];
}

describe('every vector, by the function', () => {
  for (const vector of vectors.cases) {
    test(`${vector.name}: ${vector.expected}`, () => {
      const found = findForbiddenMaterial(bodyOf(vector));
      if (vector.expected === 'refuse') assert.notEqual(found, null);
      if (vector.expected === 'accept') assert.equal(found, null);
      for (const secret of secretsOf(vector)) assert.ok(!JSON.stringify(found).includes(secret));
    });
  }
});

describe('vectors of registration and sign-in, over HTTP in an otherwise valid ceremony', () => {
  let constellation: Constellation;
  before(async () => {
    constellation = await startConstellation();
  });
  after(() => constellation.close());

  async function send(vector: Case, number: number): Promise<RawAnswer> {
    const browser = new TestBrowser(constellation);
    const name = `vector-x${number}`;
    if (vector.base === 'register') {
      const options = await browser.begin('/v1/auth/register/options', { name });
      const credential = patched(newAuthenticator(constellation).create(options), vector.patch);
      const body = vector.rawBody ?? { challengeId: options.challengeId, credential };
      return browser.fetch('/v1/auth/register/verify', { body });
    }
    const { authenticator } = await registerAccount(constellation, name);
    const options = await browser.begin('/v1/auth/login/options');
    const credential = patched(authenticator.get(options), vector.patch);
    const body = vector.rawBody ?? { challengeId: options.challengeId, credential };
    return browser.fetch('/v1/auth/login/verify', { body });
  }

  const ceremonies = vectors.cases.filter(({ base }) => base === 'register' || base === 'login');
  for (const [number, vector] of ceremonies.entries()) {
    test(`${vector.name}: ${vector.expected}`, async () => {
      const answer = await send(vector, number);
      assert.ok(answer.status < 500, answer.text);
      if (vector.expected === 'refuse') {
        // A body that is no JSON at all is refused for that, before anybody looks into it.
        const code = vector.rawBody?.startsWith('?') ? 'invalid_request' : 'forbidden_material';
        assert.equal(problemCode(answer), code);
        assert.equal(answer.headers['set-cookie'], undefined);
        const everywhere = `${answer.text}\n${JSON.stringify(constellation.log)}\n${await databaseText(constellation.core.context.pool)}`;
        for (const secret of secretsOf(vector)) {
          assert.ok(!everywhere.includes(secret), 'the secret was answered, logged or stored');
          assert.ok(!everywhere.includes(Buffer.from(secret).toString('hex')), 'the secret was stored as bytes');
        }
      } else if (answer.status >= 400) {
        assert.notEqual(problemCode(answer), vector.expected === 'accept' ? 'forbidden_material' : '');
        // The one benign change that breaks the ceremony itself: a handle that is not the owner's.
        if (vector.expected === 'accept') assert.equal(vector.name, 'benign/user-handle-32');
      }
    });
  }

  test('a phrase in the label of a passkey is refused, and a label about one is not', async () => {
    const account = await registerAccount(constellation, 'label-owner');
    const { items } = (await account.fetch('/v1/auth/passkeys')).json as { items: { id: string }[] };
    const rename = (label: string) =>
      account.fetch(`/v1/auth/passkeys/${items[0]?.id}`, { method: 'PATCH', body: { label } });
    const refused = await rename('legal winner thank year wave sausage worth useful legal winner thank yellow');
    assert.equal(problemCode(refused), 'forbidden_material');
    assert.equal((await rename('Seed phrase is in the private key safe')).status, 200);
  });

  for (const { call, inputs, allowedOutputs } of prfExamples()) {
    for (const output of allowedOutputs) {
      const text = JSON.stringify(output);
      test(`the answer ${text} to ${call}(${JSON.stringify(inputs)}) is taken only without results`, async () => {
        const extensions = JSON.parse(text.replaceAll('<bytes>', Buffer.alloc(32, 9).toString('base64url')));
        const patch = [{ path: '/clientExtensionResults', value: extensions }];
        const name = `prf-x${Buffer.from(text + call + JSON.stringify(inputs)).reduce((sum, byte) => (sum * 31 + byte) % 999_983, 7)}`;
        const base = call === 'create' ? 'register' : 'login';
        const answer = await send({ name, base, patch, expected: 'either' }, Number(name.slice(5)));
        if (text.includes('results')) assert.equal(problemCode(answer), 'forbidden_material');
        else assert.ok(answer.status < 300, answer.text);
      });
    }
  }
});

describe('the outputs of client extensions', () => {
  let constellation: Constellation;
  before(async () => {
    constellation = await startConstellation();
  });
  after(() => constellation.close());

  const secret = Buffer.alloc(32, 9).toString('base64url');
  const refused: readonly (readonly [string, unknown])[] = [
    ['an unknown member', { vaultMaterial: secret }],
    ['a member beside credProps.rk', { credProps: { rk: true, authenticatorDisplayName: secret } }],
    ['a member beside prf.enabled', { prf: { enabled: true, salt: secret } }],
    ['a text for prf.enabled', { prf: { enabled: secret } }],
    ['a text for credProps.rk', { credProps: { rk: secret } }],
    ['a blob', { largeBlob: { blob: secret } }],
    ['a blob that was written', { largeBlob: { written: true } }],
    ['a text for appid', { appid: secret }],
    ['a level of credProtect that is none', { credProtect: 4 }],
    ['a key of a device', { devicePubKey: { signature: secret } }],
    ['no object', secret],
    ['nothing', null],
  ];
  for (const [what, outputs] of refused) {
    test(`that hold ${what} are refused at registration and sign-in, and leave no trace`, async () => {
      const name = `outputs-x${refused.findIndex(([other]) => other === what)}`;
      const browser = new TestBrowser(constellation);
      const options = await browser.begin('/v1/auth/register/options', { name });
      const credential = { ...newAuthenticator(constellation).create(options), clientExtensionResults: outputs };
      const register = { challengeId: options.challengeId, credential };
      const { authenticator } = await registerAccount(constellation, `${name}-known`);
      const signInOptions = await browser.begin('/v1/auth/login/options');
      const assertion = { ...authenticator.get(signInOptions), clientExtensionResults: outputs };
      const signIn = { challengeId: signInOptions.challengeId, credential: assertion };
      for (const [path, body] of [
        ['/v1/auth/register/verify', register],
        ['/v1/auth/login/verify', signIn],
      ] as const) {
        const answer = await browser.fetch(path, { body });
        assert.ok(['invalid_request', 'forbidden_material'].includes(problemCode(answer)), answer.text);
        const everywhere = `${answer.text}\n${JSON.stringify(constellation.log)}\n${await databaseText(constellation.core.context.pool)}`;
        assert.ok(!everywhere.includes(secret), 'it was answered, logged or stored');
      }
    });
  }

  test('that browsers send are taken, and none of them is stored', async () => {
    const outputs = { credProps: { rk: true }, prf: { enabled: true }, credProtect: 2, appidExclude: false };
    const browser = new TestBrowser(constellation);
    const options = await browser.begin('/v1/auth/register/options', { name: 'outputs-known' });
    const credential = { ...newAuthenticator(constellation).create(options), clientExtensionResults: outputs };
    await browser.take('/v1/auth/register/verify', { body: { challengeId: options.challengeId, credential } });
    assert.doesNotMatch(await databaseText(constellation.core.context.pool), /credProps|credProtect|appidExclude/);
  });
});

function prfExamples(): { call: string; inputs: unknown; allowedOutputs: unknown[] }[] {
  const file = new URL('../../test-vectors/webauthn-prf.json', import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')).webAuthnApiExamples;
}

describe('beyond the vectors', () => {
  const PEM =
    '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIG5o56WEhKMmT2a3f11txbw2pHCFthXJcnqzNOjDacLu\n-----END PRIVATE KEY-----';
  const secrets: Record<string, unknown> = {
    'a private key in PEM': { label: PEM },
    'a private key in DER': { label: PEM.replace(/-----[A-Z ]+-----|\n/g, '') },
    'a private JWK': { key: { kty: 'OKP', crv: 'Ed25519', x: 'AA', d: 'AA' } },
    'a PRF result': { prf: { results: { first: 'AA' } } },
    'results without their prf': { results: { first: Buffer.alloc(32, 5).toString('base64url') } },
    'a seed': { seed: 'AA' },
    'a plaintext bundle': { bundle: { contacts: [] } },
    'a one-time password seed': { link: 'otpauth://totp/x?secret=JBSWY3DPEHPK3PXP' },
  };
  const wrappings: Record<string, (value: unknown) => unknown> = {
    object: (value) => ({ inner: value }),
    array: (value) => [1, value],
    'JSON in a string': (value) => ({ inner: JSON.stringify(value) }),
    base64url: (value) => ({ inner: Buffer.from(JSON.stringify(value)).toString('base64url') }),
    'base64 with line ends': (value) => ({
      inner: Buffer.from(JSON.stringify(value)).toString('base64').replace(/.{20}/g, '$&\r\n'),
    }),
    hexadecimal: (value) => ({ inner: Buffer.from(JSON.stringify(value)).toString('hex') }),
    'percent-encoding': (value) => ({ inner: encodeURIComponent(JSON.stringify(value)) }),
  };
  const anyWrapping = fc.array(fc.constantFrom(...Object.keys(wrappings)), { minLength: 0, maxLength: 4 });

  for (const [what, secret] of Object.entries(secrets)) {
    test(`${what} is found in any mixture of four wrappings`, () => {
      fc.assert(
        fc.property(anyWrapping, (names) => {
          const value = names.reduce((inner, name) => wrappings[name]?.(inner), secret);
          assert.notEqual(findForbiddenMaterial(JSON.stringify(value)), null, JSON.stringify(value));
        }),
      );
    });
  }

  test('twelve words of the list are found whatever stands between them, eleven are prose', () => {
    const words = fc.array(fc.constantFrom(...english), { minLength: 12, maxLength: 24 });
    const between = fc.constantFrom(' ', '\n', ', ', ' - ', '  ', '\u3000', '%20', '+', ' 7. ');
    fc.assert(
      fc.property(words, between, (phrase, separator) => {
        const found = findForbiddenMaterial(JSON.stringify({ label: phrase.join(separator) }));
        assert.equal(found?.kind, 'recovery phrase');
        const eleven = phrase.slice(0, 11).join(separator);
        assert.equal(findForbiddenMaterial(JSON.stringify({ label: `the ${eleven} the` })), null);
      }),
    );
  });

  test('random bytes in any encoding, as ids and signatures are, raise no alarm', () => {
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 400 }).map((array) => Buffer.from(array));
    const encoding = fc.constantFrom('base64url', 'base64', 'hex');
    fc.assert(
      fc.property(bytes, encoding, (value, how) => {
        const text = value.toString(how as BufferEncoding);
        const body = { id: text, rawId: text, response: { signature: text, userHandle: text }, challengeId: text };
        assert.equal(findForbiddenMaterial(JSON.stringify(body)), null);
      }),
      { numRuns: thorough(500, 20_000) },
    );
  });

  test('names that only say something about a secret raise no alarm', () => {
    const flags = {
      hasPrivateKey: true,
      mnemonic: null,
      seed: '',
      password: false,
      bundle: {},
      opinion: 'x',
      mask: 'y',
    };
    const sealed = { bundle: { ciphertext: 'AA', nonce: 'AA' }, results: { first: 'Ada', second: 'Bob' }, task: 'sk' };
    assert.equal(findForbiddenMaterial(JSON.stringify({ ...flags, ...sealed })), null);
  });

  test('prose in many languages raises no alarm', () => {
    const prose = [
      'All people are born free and equal in dignity and rights. They are endowed with reason and conscience and should act towards one another in a spirit of brotherhood.',
      'Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados como están de razón y conciencia, deben comportarse fraternalmente los unos con los otros.',
      'Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de conscience et doivent agir les uns envers les autres dans un esprit de fraternité.',
      '人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。',
      'すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。',
      '모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 이성과 양심을 부여받았으며 서로 형제애의 정신으로 행동하여야 한다.',
      'Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti. Essi sono dotati di ragione e di coscienza.',
    ];
    for (const text of prose) assert.equal(findForbiddenMaterial(JSON.stringify({ label: text })), null, text);
  });

  test('the path names no member that the client made up', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (name) => {
        const secret = `canary${name}`;
        const found = findForbiddenMaterial(JSON.stringify({ [secret]: { [`${secret}PrivateKey`]: 'AA' } }));
        assert.equal(found?.path, '*.privatekey');
      }),
    );
  });
});
