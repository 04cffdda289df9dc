// Amounts are minor units: a currency whose decimals changed would make 12.50 of somebody 1.250, so nothing starts with it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { registerAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { installTestApp } from '../../../../tests/support/installed-app.ts';
import { approve, balanceOf, credit, policyFor, propose, WALLET_GRANTS } from '../../test-support/wallet.ts';
import { StartError } from '../config/start-error.ts';
import { creditAccount } from './credit.ts';
import { currencyFault, requireCurrency } from './require-currency.ts';

let world: Constellation;
before(async () => {
  world = await startConstellation();
});
after(() => world?.close());

const as = (code: string, decimals: number) => {
  const { context } = world.core;
  return { ...context, config: { ...context.config, walletCurrency: { code, decimals } } };
};
const isRefused = (error: unknown) =>
  error instanceof StartError &&
  error.code === 'wallet_currency_changed' &&
  /is CREDIT:3, .* with 2 decimals.*Set PLATFORM_WALLET_CURRENCY to CREDIT:2/.test(error.message);

test('decimals can change as long as there are no amounts', async () => {
  for (const decimals of [3, 0, 2]) await requireCurrency(as('CREDIT', decimals));
  assert.equal(await currencyFault(as('CREDIT', 3)), null);
});

test('once there are, only the same decimals start, and another currency does', async () => {
  const ada = await registerAccount(world, 'ada');
  await registerAccount(world, 'ben');
  const app = await installTestApp(world, ada, 'payer', WALLET_GRANTS);
  // A limit alone is an amount.
  const proposal = await propose(app, policyFor(['ben']));
  await assert.rejects(requireCurrency(as('CREDIT', 3)), isRefused);
  await approve(ada, proposal);
  await world.core.context.pool.query('DELETE FROM wallet_proposals');
  await assert.rejects(requireCurrency(as('CREDIT', 3)), isRefused);
  await world.core.context.pool.query('DELETE FROM wallet_policies');
  await requireCurrency(as('CREDIT', 2));
  await credit(world, 'ada', 1_250n);
  await assert.rejects(requireCurrency(as('CREDIT', 3)), isRefused);
  await assert.rejects(world.replica({ config: as('CREDIT', 3).config }), isRefused);
  const { rows } = await world.core.context.pool.query("SELECT key FROM accounts WHERE name = 'ada'");
  await assert.rejects(creditAccount(as('CREDIT', 3), rows[0].key, { value: 1n, reason: 'x' }), isRefused);
  assert.equal(await balanceOf(ada), '1250');
  await requireCurrency(as('EUR', 2));
  await requireCurrency(as('CREDIT', 2));
});
