// What password managers send that authenticators of browsers do not: members of the client data that core does not know are
// ignored in both ceremonies, so that what registers can sign in; and another backup eligibility, by the operator's choice.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { newAuthenticator, registerAccount, signIn, TestBrowser } from '../../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';
import { problemCode } from '../../../../../tests/support/raw-http.ts';

interface ManagerCase {
  readonly name: string;
  readonly kind: 'browser' | 'server';
  readonly clientData?: Readonly<Record<string, unknown>>;
}

const { cases }: { readonly cases: readonly ManagerCase[] } = JSON.parse(
  readFileSync(new URL('../../../test-vectors/passkey-managers.json', import.meta.url), 'utf8'),
);

const MEMBERS: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
  ...cases.flatMap(({ name, clientData }) => (clientData === undefined ? [] : [[name, clientData] as const])),
  ...['present', 'supported', 'not-supported', 'notSupported', 'unheard-of'].map(
    (status) => [`token binding ${status}`, { tokenBinding: { status, id: 'AQID' } }] as const,
  ),
  ...[null, 'text', 7, [], {}, true].map(
    (tokenBinding) => [`token binding ${JSON.stringify(tokenBinding)}`, { tokenBinding }] as const,
  ),
  ['nulls', { crossOrigin: null, topOrigin: null }],
  ['members of a later level', { futureMember: { nested: [1, null] }, hashAlgorithm: 'SHA-256', clientExtensions: {} }],
];

let constellation: Constellation;
before(async () => {
  constellation = await startConstellation();
});
after(() => constellation.close());

let names = 0;
function newName(): string {
  names += 1;
  return `managed-${names}`;
}

describe('client data with members that core does not know', () => {
  for (const [what, more] of MEMBERS) {
    for (const format of ['none', 'packed'] as const) {
      test(`registers with attestation ${format} and signs in: ${what}`, async () => {
        const changes = { clientData: (data: object) => ({ ...data, ...more }) };
        const browser = new TestBrowser(constellation);
        const authenticator = newAuthenticator(constellation);
        const creation = await browser.begin('/v1/auth/register/options', { name: newName() });
        const credential = authenticator.create(creation, { ...changes, format });
        const { challengeId } = creation;
        const registered = await browser.fetch('/v1/auth/register/verify', { body: { challengeId, credential } });
        assert.equal(registered.status, 201, registered.text);
        const request = await browser.begin('/v1/auth/login/options');
        const body = { challengeId: request.challengeId, credential: authenticator.get(request, changes) };
        const signedIn = await browser.fetch('/v1/auth/login/verify', { body });
        assert.equal(signedIn.status, 200, signedIn.text);
      });
    }
  }
});

describe('a passkey that says another backup eligibility than at its registration', () => {
  for (const before of [true, false]) {
    test(`from ${before}: is refused, the log says why, and it stays as it was`, async () => {
      const account = await registerAccount(constellation, newName(), { backupEligible: before, backedUp: before });
      const [credential] = account.authenticator.credentials;
      assert.ok(credential !== undefined);
      Object.assign(credential, { backupEligible: !before, backedUp: !before });
      const logged = constellation.log.length;
      await assert.rejects(signIn(constellation, account.authenticator), /401 verification_failed/);
      const faults = constellation.log.slice(logged).flatMap(({ fields }) => ('fault' in fields ? [fields.fault] : []));
      assert.deepEqual(faults, ['backup-eligibility-changed']);
    });

    test(`from ${before}: signs in where the operator accepts it, is kept so, and by its own signature alone`, async () => {
      const accepting = await startConstellation({ config: { passkeyBackupChanges: 'accepted' } });
      try {
        const account = await registerAccount(accepting, newName(), { backupEligible: before, backedUp: before });
        const [credential] = account.authenticator.credentials;
        assert.ok(credential !== undefined);
        const stored = async () =>
          (await accepting.core.context.pool.query('SELECT backup_eligible, backed_up FROM passkeys')).rows;
        Object.assign(credential, { backupEligible: !before, backedUp: !before });
        const browser = new TestBrowser(accepting);
        const options = await browser.begin('/v1/auth/login/options');
        const forged = account.authenticator.get(options, {
          signature: (bytes) => Buffer.concat([bytes.subarray(0, -1), Buffer.of((bytes.at(-1) ?? 0) ^ 1)]),
        });
        const body = { challengeId: options.challengeId, credential: forged };
        assert.equal(problemCode(await browser.fetch('/v1/auth/login/verify', { body })), 'verification_failed');
        assert.deepEqual(await stored(), [{ backup_eligible: before, backed_up: before }]);
        await signIn(accepting, account.authenticator);
        assert.deepEqual(await stored(), [{ backup_eligible: !before, backed_up: !before }]);
        await signIn(accepting, account.authenticator);
      } finally {
        await accepting.close();
      }
    });
  }
});
