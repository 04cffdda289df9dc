// A second means of payment, labelled as one of tests: the wallet pays by it as by the operator's credits, and frees what it could not pay.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import { approve, balanceOf, payment, propose, tryApprove, WALLET_GRANTS } from '../../test-support/wallet.ts';
import type { Payment, Rail } from './rail.ts';

interface Held {
  readonly payment: Payment;
}

/** Money that is nowhere but here. */
class TestRail implements Rail<Held> {
  readonly currency = { code: 'TESTRAIL', decimals: 0 };
  readonly held = new Map<string, bigint>();
  readonly did: string[] = [];
  fails = false;

  async balance(_: unknown, accountKey: string): Promise<bigint> {
    return this.held.get(accountKey) ?? 0n;
  }

  async reserve(_: unknown, payment: Payment): Promise<Held | 'insufficient-funds'> {
    const { payerKey, value } = payment;
    const has = this.held.get(payerKey) ?? 0n;
    if (has < value) return 'insufficient-funds';
    this.did.push('reserve');
    this.held.set(payerKey, has - value);
    return { payment };
  }

  async execute(_: unknown, { payment: { payeeKey, value } }: Held): Promise<void> {
    if (this.fails) throw new Error('the test rail is down');
    this.did.push('execute');
    this.held.set(payeeKey, (this.held.get(payeeKey) ?? 0n) + value);
  }

  async reverse({ payment: { payerKey, value } }: Held): Promise<void> {
    this.did.push('reverse');
    this.held.set(payerKey, (this.held.get(payerKey) ?? 0n) + value);
  }

  async *verify(): AsyncGenerator<never> {}
}

const rail = new TestRail();
let world: Constellation;
let ada: TestAccount;
let ben: TestAccount;
let app: InstalledTestApp;

before(async () => {
  world = await startConstellation({ rails: [rail as Rail] });
  ada = await registerAccount(world, 'ada');
  ben = await registerAccount(world, 'ben');
  app = await installTestApp(world, ada, 'payer', WALLET_GRANTS);
  const { rows } = await world.core.context.pool.query<{ key: string }>("SELECT key FROM accounts WHERE name = 'ada'");
  rail.held.set(rows[0]?.key ?? '', 100n);
});
after(() => world?.close());

const inTestMoney = (value: string) => payment('ben', value, { amount: { currency: 'TESTRAIL', value } });

test('it pays, refuses what is not there, and frees what could not be paid', async () => {
  await approve(ada, await propose(app, inTestMoney('40')));
  assert.deepEqual([await balanceOf(ada, 'TESTRAIL'), await balanceOf(ben, 'TESTRAIL')], ['60', '40']);
  assert.equal(problemCode(await tryApprove(ada, await propose(app, inTestMoney('61')))), 'insufficient_funds');
  rail.fails = true;
  const proposal = await propose(app, inTestMoney('10'));
  assert.equal((await tryApprove(ada, proposal)).status, 500);
  assert.equal(await balanceOf(ada, 'TESTRAIL'), '60');
  rail.fails = false;
  assert.equal((await approve(ada, proposal)).proposal.state, 'executed');
  assert.deepEqual(rail.did, ['reserve', 'execute', 'reserve', 'reverse', 'reserve', 'execute']);
});
