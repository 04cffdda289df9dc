// Every negative WebAuthn vector against a running core: refused for its own reason, nothing stored, nothing disclosed.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { registerAccount, signIn } from '../../../../../tests/support/client.ts';
import type { Algorithm } from '../../../../../tests/support/software-authenticator.ts';
import { CeremonyStage } from '../../../test-support/ceremony-stage.ts';
import { loginMutations } from '../../../test-support/login-mutations.ts';
import { registrationMutations } from '../../../test-support/registration-mutations.ts';

const vectors: { cases: { name: string; how: string }[] } = JSON.parse(
  readFileSync(new URL('../../../test-vectors/webauthn-mutations.json', import.meta.url), 'utf8'),
);
const mutations = { ...registrationMutations, ...loginMutations };

let stage: CeremonyStage;
before(async () => {
  stage = await CeremonyStage.start();
});
after(() => stage.close());

test('every vector has its function and every function its vector', () => {
  assert.deepEqual(Object.keys(mutations).sort(), vectors.cases.map(({ name }) => name).sort());
});

describe('a ceremony without a change succeeds', () => {
  for (const algorithm of ['ES256', 'EdDSA', 'RS256'] satisfies Algorithm[]) {
    for (const counts of [false, true]) {
      test(`with ${algorithm} and a counter that ${counts ? 'counts' : 'stays 0'}`, async () => {
        const account = await registerAccount(stage.target, stage.newName(), { algorithm, counts });
        for (let times = 0; times < 3; times += 1) {
          assert.equal((await signIn(stage.target, account.authenticator)).name, account.name);
        }
      });
    }
  }
});

describe('a ceremony with one change is refused', () => {
  for (const { name, how } of vectors.cases) {
    test(`${name}: ${how}`, async () => {
      const mutation = mutations[name];
      assert.ok(mutation !== undefined, 'no function for this vector');
      stage.attempts = [];
      await mutation.run(stage);
      assert.deepEqual(
        stage.attempts.map(({ refusedFor }) => refusedFor),
        mutation.refusedFor,
      );
    });
  }
});
