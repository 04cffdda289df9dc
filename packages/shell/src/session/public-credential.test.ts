// What of a passkey leaves the browser: what core takes, and never a PRF result.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertionCredential, registrationCredential } from '@platform/contract';
import { publicAssertion, publicRegistration, removePrfResults } from './public-credential.ts';

const SECRET = 'c2VjcmV0LXByZi1yZXN1bHQtb2YtdGhpcy1kZXZpY2U';

function registration(): RegistrationResponseJSON {
  return {
    id: 'AQID',
    rawId: 'AQID',
    type: 'public-key',
    authenticatorAttachment: 'platform',
    response: {
      clientDataJSON: 'e30',
      attestationObject: 'o2M',
      authenticatorData: 'AAAA',
      transports: ['internal', 'hybrid'],
      publicKey: 'MFkw',
      publicKeyAlgorithm: -7,
    },
    clientExtensionResults: {
      credProps: { rk: true },
      prf: { enabled: true, results: { first: SECRET, second: SECRET } },
      largeBlob: { blob: SECRET },
    },
  };
}

function assertion(): AuthenticationResponseJSON {
  return {
    id: 'AQID',
    rawId: 'AQID',
    type: 'public-key',
    response: { clientDataJSON: 'e30', authenticatorData: 'AAAA', signature: 'MEUC', userHandle: 'YWNjdA' },
    clientExtensionResults: { prf: { results: { first: SECRET } } },
  };
}

test('a registration is sent without secrets, in the shape core takes', () => {
  const sent = publicRegistration(registration());
  assert.doesNotMatch(JSON.stringify(sent), new RegExp(SECRET));
  assert.deepEqual(sent.clientExtensionResults, { credProps: { rk: true }, prf: { enabled: true } });
  assert.equal(registrationCredential.safeParse(sent).success, true);
});

test('an assertion is sent without secrets, in the shape core takes', () => {
  const sent = publicAssertion(assertion());
  assert.doesNotMatch(JSON.stringify(sent), new RegExp(SECRET));
  assert.deepEqual(sent.clientExtensionResults, {});
  assert.equal(assertionCredential.safeParse(sent).success, true);
});

test('members a newer browser adds are left out, so that core still takes the rest', () => {
  const json = { ...registration(), futureMember: SECRET };
  const sent = publicRegistration({ ...json, response: { ...json.response, ...{ futureProof: SECRET } } });
  assert.equal(registrationCredential.safeParse(sent).success, true);
  assert.doesNotMatch(JSON.stringify(sent), new RegExp(SECRET));
});

test('the browser’s own copy holds no PRF result afterwards', () => {
  const json = assertion();
  removePrfResults(json);
  assert.doesNotMatch(JSON.stringify(json), new RegExp(SECRET));
});

test('an attachment that is no attachment, and members that are absent, are not sent', () => {
  const json = registration();
  const { publicKey: _, ...response } = json.response;
  const sent = publicRegistration({ ...json, authenticatorAttachment: 'telepathic', response });
  assert.equal('authenticatorAttachment' in sent, false);
  assert.equal('publicKey' in sent.response, false);
});
