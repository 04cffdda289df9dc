// Credentials as extensions of password managers hand them out become the JSON that core takes, or are refused as a whole.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { assertionCredential, registrationCredential } from '@platform/contract';
import { assertionJson, extensionOutputs, isCredential, registrationJson } from './credential-json.ts';
import { holdPrf, takePrf } from './prf.ts';
import { publicAssertion, publicRegistration } from './public-credential.ts';

const bytes = (text: string) => new TextEncoder().encode(text).buffer;
const base64url = (text: string) => Buffer.from(text).toString('base64url');

/** Getters that work on nothing but a browser's own object, as those of `PublicKeyCredential.prototype`. */
const native = Object.create(null, {
  ...Object.fromEntries(
    ['id', 'rawId', 'response', 'type', 'authenticatorAttachment'].map((name) => [
      name,
      {
        get() {
          throw new TypeError('Illegal invocation');
        },
      },
    ]),
  ),
  toJSON: {
    value() {
      throw new TypeError('Illegal invocation');
    },
  },
});

const own = (members: Record<string, unknown>, prototype: object | null = Object.prototype): object =>
  Object.create(prototype, Object.getOwnPropertyDescriptors(members));

const created = (response: Record<string, unknown> = {}) => ({
  id: base64url('credential'),
  rawId: bytes('credential'),
  type: 'public-key',
  response: {
    clientDataJSON: bytes('{}'),
    attestationObject: bytes('object'),
    getTransports: () => ['internal', 'hybrid'],
    ...response,
  },
  getClientExtensionResults: () => ({ credProps: { rk: true } }),
});
const used = (response: Record<string, unknown> = {}) => ({
  ...created(),
  response: {
    clientDataJSON: bytes('{}'),
    authenticatorData: bytes('data'),
    signature: bytes('signature'),
    userHandle: bytes('account'),
    ...response,
  },
});

const VARIANTS: Readonly<Record<string, (members: Record<string, unknown>) => object>> = {
  'a plain object': (members) => members,
  'an object without a prototype': (members) => own(members, null),
  'one whose prototype throws': (members) => own(members, native),
  'one with a toJSON that throws': (members) => ({
    ...members,
    toJSON: () => {
      throw new Error('no');
    },
  }),
  'one with a toJSON that gives null': (members) => ({ ...members, toJSON: () => null }),
  'one without rawId': ({ rawId: _, ...members }) => members,
  'one whose id is base64 with padding': (members) => ({ ...members, id: `${base64url('credential')}==` }),
  'one without id': ({ id: _, ...members }) => members,
  'one with views instead of buffers': (members) => ({ ...members, rawId: new Uint8Array(bytes('credential')) }),
  'one with buffers of another realm': (members) => ({
    ...members,
    rawId: runInNewContext('Uint8Array.from(list).buffer', { list: [...Buffer.from('credential')] }),
  }),
  'one with a list of numbers': (members) => ({ ...members, rawId: [...Buffer.from('credential')] }),
  'one with nulls': (members) => ({ ...members, authenticatorAttachment: null, toJSON: null }),
  'one with members that nobody knows': (members) => ({ ...members, futureMember: 'x', authenticatorAttachment: 'x' }),
  'one without extension results': ({ getClientExtensionResults: _, ...members }) => members,
  'one whose extension results are null': (members) => ({ ...members, getClientExtensionResults: () => null }),
  'one whose extension results throw': (members) => ({
    ...members,
    getClientExtensionResults: () => {
      throw new Error('no');
    },
  }),
  'one with odd extension results': (members) => ({
    ...members,
    getClientExtensionResults: () =>
      Object.freeze({ credProps: null, prf: Object.freeze({ enabled: 1, results: null }) }),
  }),
};

for (const [what, change] of Object.entries(VARIANTS)) {
  test(`${what} becomes what core takes, at registration and at sign-in`, () => {
    const registration = change(created());
    const assertion = change(used());
    for (const credential of [registration, assertion]) {
      assert.ok(isCredential(credential));
      holdPrf(extensionOutputs(credential), 'one');
      assert.equal(takePrf()?.first, null);
    }
    const registered = registrationCredential.parse(publicRegistration(registrationJson(registration)));
    const signedIn = assertionCredential.parse(publicAssertion(assertionJson(assertion)));
    for (const { id, rawId } of [registered, signedIn])
      assert.deepEqual([id, rawId], [base64url('credential'), base64url('credential')]);
    assert.equal(registered.response.attestationObject, base64url('object'));
    assert.deepEqual(registered.response.transports, ['internal', 'hybrid']);
    assert.equal(signedIn.response.signature, base64url('signature'));
    assert.equal(signedIn.response.userHandle, base64url('account'));
  });
}

for (const [what, response] of Object.entries({
  'no getTransports': { getTransports: undefined },
  'transports that are null': { getTransports: () => null },
  'transports of odd kinds': { getTransports: () => [1, null, 'x'.repeat(100)] },
  'methods that throw': {
    getTransports: () => {
      throw new Error('no');
    },
    getPublicKey: () => {
      throw new Error('no');
    },
  },
  'an algorithm and a key that are null': { getPublicKey: () => null, getPublicKeyAlgorithm: () => null },
})) {
  test(`a registration with ${what} passes without what is missing`, () => {
    const sent = registrationCredential.parse(publicRegistration(registrationJson(created(response))));
    const hasTransports = !('getTransports' in response);
    assert.deepEqual(sent.response.transports, hasTransports ? ['internal', 'hybrid'] : []);
    assert.deepEqual([sent.response.publicKey, sent.response.publicKeyAlgorithm], [undefined, undefined]);
  });
}

for (const userHandle of [null, undefined, new ArrayBuffer(0)])
  test(`a sign-in with the user handle ${String(userHandle)} has none`, () => {
    const sent = assertionCredential.parse(publicAssertion(assertionJson(used({ userHandle }))));
    assert.equal(sent.response.userHandle, undefined);
  });

test('what only its own JSON has is taken from there', () => {
  const { response, ...members } = used();
  const json = { response: { signature: base64url('from JSON') } };
  const credential = { ...members, response: { ...response, signature: undefined }, toJSON: () => json };
  assert.equal(assertionJson(credential).response.signature, base64url('from JSON'));
});

test('without a part that nothing replaces there is no credential', () => {
  for (const value of [null, undefined, {}, { response: null }, 'text']) assert.equal(isCredential(value), false);
  assert.throws(() => registrationJson(created({ attestationObject: null })));
  assert.throws(() => assertionJson(used({ signature: undefined })));
  assert.throws(() => assertionJson({ ...used(), id: undefined, rawId: null }));
});

test('a PRF result in any kind of bytes is held, and never sent', () => {
  for (const first of [bytes('secret'), new Uint8Array(bytes('secret')), [...Buffer.from('secret')]]) {
    const credential = { ...used(), getClientExtensionResults: () => ({ prf: { results: { first, second: null } } }) };
    holdPrf(extensionOutputs(credential), 'one');
    assert.equal(String.fromCharCode(...(takePrf()?.first ?? [])), 'secret');
    assert.doesNotMatch(JSON.stringify(publicAssertion(assertionJson(credential))), /results|c2VjcmV0/);
  }
});
