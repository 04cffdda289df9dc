// However many pay each other at the same moment: nothing comes from nowhere, nothing is lost, and no balance is negative.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import { randomOf, thorough } from '../../../../tests/support/thorough.ts';
import {
  balanceOf,
  credit,
  findings,
  newKey,
  payment,
  propose,
  tryApprove,
  WALLET_GRANTS,
} from '../../test-support/wallet.ts';
import { creditsRail } from './credits-rail.ts';
import { ledgerSums } from './ledger-queries.ts';
import type { Payment } from './rail.ts';
import { isShortage } from './rail.ts';

let world: Constellation;
before(async () => {
  world = await startConstellation();
});
after(() => world?.close());

interface Person {
  readonly account: TestAccount;
  readonly app: InstalledTestApp;
  readonly key: string;
}

async function people(names: readonly string[]): Promise<Person[]> {
  const all: Person[] = [];
  for (const name of names) {
    const account = await registerAccount(world, name);
    const app = await installTestApp(world, account, `payer-of-${name}`, WALLET_GRANTS);
    const { rows } = await world.core.context.pool.query<{ key: string }>('SELECT key FROM accounts WHERE name = $1', [
      name,
    ]);
    all.push({ account, app, key: rows[0]?.key ?? '' });
  }
  return all;
}

async function assertWhole(): Promise<void> {
  assert.deepEqual(await findings(world), []);
  for (const { sum, negative } of await ledgerSums(world.core.context.database))
    assert.deepEqual([sum, negative], ['0', 0]);
}

test('approvals of one balance at the same moment pay no more than is there', async () => {
  const [payer, payee] = await people(['one-payer', 'one-payee']);
  assert.ok(payer && payee);
  await credit(world, payer.account.name, 70n);
  const proposals = [];
  for (let count = 0; count < 20; count += 1) proposals.push(await propose(payer.app, payment('one-payee', '10')));
  const answers = await Promise.all(proposals.map((proposal) => tryApprove(payer.account, proposal)));
  assert.equal(answers.filter(({ status }) => status === 200).length, 7);
  const refused = answers.filter(({ status }) => status !== 200).map(problemCode);
  assert.deepEqual([...new Set(refused)], ['insufficient_funds']);
  assert.deepEqual([await balanceOf(payer.account), await balanceOf(payee.account)], ['0', '70']);
  await assertWhole();
});

test('a thousand payments of one balance at the same moment, by the rail alone', async () => {
  const [payer, payee] = await people(['rail-payer', 'rail-payee']);
  assert.ok(payer && payee);
  await credit(world, payer.account.name, 300n);
  const outcomes = await Promise.all(Array.from({ length: 1_000 }, () => pay({ from: payer, to: payee, value: 1n })));
  assert.equal(outcomes.filter((paid) => paid).length, 300);
  assert.deepEqual([await balanceOf(payer.account), await balanceOf(payee.account)], ['0', '300']);
});

/** By the rail, without an approval: what the ledger is to hold even then. */
async function pay({ from, to, value }: { from: Person; to: Person; value: bigint }): Promise<boolean> {
  const { context } = world.core;
  const rail = creditsRail(context);
  const order: Payment = {
    ...{ payerKey: from.key, payeeKey: to.key, from: 'a@x', to: 'b@x', value, reference: newKey(), appId: 'tests' },
  };
  const attempt = () =>
    context.database.transaction().execute(async (trx) => {
      const reserved = await rail.reserve(trx, order);
      if (isShortage(reserved)) return false;
      await rail.execute(trx, reserved, {
        ...{ receiptId: null as never, at: context.clock(), operationHash: Buffer.alloc(32) },
        ...{ assertionHash: Buffer.alloc(32), policiesHash: Buffer.alloc(32) },
      });
      return true;
    });
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      // A thousand wait for a few connections: whoever got none has done nothing, and tries again.
      if (!String(error).includes('timeout exceeded when trying to connect')) throw error;
    }
  }
}

test('payments in all directions at once keep the sum', async (context) => {
  const random = randomOf(context);
  const everybody = await people(['cross-a', 'cross-b', 'cross-c', 'cross-d']);
  for (const { account } of everybody) await credit(world, account.name, 1_000n);
  const pick = () => everybody[Math.floor(random() * everybody.length)] ?? assert.fail();
  const rounds = thorough(4, 1_000);
  for (let round = 0; round < rounds; round += 1)
    await Promise.all(
      Array.from({ length: 100 }, async () => {
        const [from, to] = [pick(), pick()];
        if (from === to) await credit(world, from.account.name, BigInt(1 + Math.floor(random() * 5)));
        else await pay({ from, to, value: BigInt(1 + Math.floor(random() * 400)) });
      }),
    );
  for (const { sum, negative } of await ledgerSums(world.core.context.database))
    assert.deepEqual([sum, negative], ['0', 0]);
  const chained = (await findings(world)).filter(({ what }) => !/receipt|approved/.test(what));
  assert.deepEqual(chained, []);
});

test('an account that is deleted while it is paid leaves nothing behind', async () => {
  const [payer, payee] = await people(['gone-payer', 'gone-payee']);
  assert.ok(payer && payee);
  await credit(world, payer.account.name, 100n);
  const proposals = [];
  for (let count = 0; count < 5; count += 1) proposals.push(await propose(payer.app, payment('gone-payee', '10')));
  const { deleteAccount } = await import('../accounts/face.ts');
  const [, ...answers] = await Promise.all([
    deleteAccount(world.core.context, { name: 'gone-payee' }),
    ...proposals.map((proposal) => tryApprove(payer.account, proposal)),
  ]);
  for (const answer of answers)
    assert.ok(answer.status === 200 || problemCode(answer) === 'proposal_conflict', answer.text);
  const paid = answers.filter(({ status }) => status === 200).length;
  assert.equal(await balanceOf(payer.account), String(100 - 10 * paid));
  const { rows } = await world.core.context.pool.query(
    'SELECT FROM wallet_accounts WHERE account_key IS NULL AND NOT issuer AND balance <> 0',
  );
  assert.equal(rows.length, 0, 'what it had went back to the operator');
});
