// Payments while core and PostgreSQL are killed with SIGKILL at random moments: what was answered as paid is there, what is there was
// approved, no balance is negative, and the sum is what the operator gave.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Receipt, WalletProposal } from '@platform/contract';
import { confirm, registerAccount, type TestAccount } from '../support/client.ts';
import {
  killPart,
  type PartName,
  type PlatformPlace,
  type PlatformProcess,
  platformPlace,
  runCommand,
  startPlatform,
} from '../support/platform-process.ts';
import { randomOf, thorough } from '../support/thorough.ts';
import { until } from '../support/wait.ts';

const GIVEN = 500;
/** Thorough: with proposal, challenge, approval or refusal of each 100,000 operations. */
const PAYMENTS = thorough(60, 25_000);
const AT_ONCE = 6;
const VICTIMS: readonly PartName[] = ['Core', 'PostgreSQL', 'Core'];
/** After these, as long as payments are made. */
const KILLS_GO_ON = thorough(false, true);
const MOST_BETWEEN_MS = thorough(600, 30_000);

let place: PlatformPlace;
let platform: PlatformProcess;
const people: TestAccount[] = [];

before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
  for (const name of ['payer-a', 'payer-b', 'payer-c']) {
    people.push(await registerAccount(platform, name));
    await runCommand(['wallet', 'credit', name, String(GIVEN), '--reason', 'To begin with'], place.environment);
  }
});
after(async () => {
  await platform?.stop();
  await place?.remove();
});

/** @returns the receipt if it was answered as paid; a part may be away at any step */
async function pay(from: TestAccount, to: string, value: number, key: string): Promise<Receipt | undefined> {
  try {
    const body = { to, amount: { currency: 'CREDIT', value: String(value) }, idempotencyKey: key };
    const { proposal } = await from.browser.take<{ proposal: WalletProposal }>('/v1/apps/wallet/wallet/payments', {
      body,
    });
    const confirmation = await confirm(from, 'wallet.payment', proposal.id);
    const answer = await from.fetch(`/v1/wallet/proposals/${proposal.id}/approve`, { body: { confirmation } });
    if (answer.status === 200) return (answer.json as { receipt: Receipt }).receipt;
    // So that twenty that could not be paid do not keep others from being proposed.
    await from.fetch(`/v1/wallet/proposals/${proposal.id}/decline`, { method: 'POST' });
  } catch {
    // Refused while a part was away, or the answer is lost.
  }
  return undefined;
}

test('nothing is lost and nothing comes of nothing', async (context) => {
  const random = randomOf(context);
  const pick = () => people[Math.floor(random() * people.length)] ?? assert.fail();
  const paid: { readonly by: TestAccount; readonly receipt: Receipt }[] = [];
  let begun = 0;
  const payer = async () => {
    // Some have to be made, however long a part is away.
    while (begun < PAYMENTS || paid.length < AT_ONCE) {
      begun += 1;
      const [by, to] = [pick(), pick()];
      if (by === to) continue;
      const receipt = await pay(by, to.name, 1 + Math.floor(random() * 120), `payment ${begun}`);
      if (receipt === undefined) await delay(50);
      else paid.push({ by, receipt });
    }
  };
  const isOver = () => begun >= PAYMENTS && paid.length >= AT_ONCE;
  const killing = (async () => {
    for (let count = 0; count < VICTIMS.length || (KILLS_GO_ON && !isOver()); count += 1) {
      await delay(200 + Math.floor(random() * MOST_BETWEEN_MS));
      await killPart(place, VICTIMS[count % VICTIMS.length] ?? 'Core');
    }
  })();
  await Promise.all([killing, ...Array.from({ length: AT_ONCE }, payer)]);
  await until(
    'core to answer',
    async () => (await people[0]?.fetch('/v1/wallet').catch(() => null))?.status === 200,
    60_000,
  );
  assert.ok(paid.length > 0, 'some were paid');
  for (const { by, receipt } of paid)
    assert.equal(
      (await by.fetch(`/v1/wallet/receipts/${receipt.id}`)).status,
      200,
      'what was answered as paid is there',
    );
  let sum = 0;
  for (const { browser } of people) {
    const { balances } = await browser.take<{ balances: { balance: string }[] }>('/v1/wallet');
    assert.ok(Number(balances[0]?.balance) >= 0);
    sum += Number(balances[0]?.balance);
  }
  assert.equal(sum, GIVEN * people.length);
  assert.match(await runCommand(['wallet', 'verify'], place.environment), /The ledger is what was approved/);
});
