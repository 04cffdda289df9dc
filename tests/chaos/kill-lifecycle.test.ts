// Kills the processes of the platform with SIGKILL at random moments of lifecycle operations, the supervisor or one of
// its parts: afterwards everything is as its owner last requested, no volume had two writers, and nothing is left of what was
// killed.
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { registerAccount } from '../support/client.ts';
import {
  killAndRecover,
  type PlatformPlace,
  type PlatformProcess,
  platformPlace,
  startPlatform,
  VICTIMS,
} from '../support/platform-process.ts';
import { randomOf, thorough } from '../support/thorough.ts';
import { until } from '../support/wait.ts';
import { nothingLeft } from './leftovers.ts';
import { assertAsDesired, assertServes, type DesiredState, operate, publish } from './lifecycle-operations.ts';

const OPERATIONS = thorough(200, 500);
const BETWEEN_KILLS = 25;
const APPS = 4;

let place: PlatformPlace;
let platform: PlatformProcess | undefined;

before(async () => {
  place = await platformPlace();
});
after(async () => {
  await platform?.stop();
  await place.remove();
});

test(`${OPERATIONS} lifecycle operations with a kill among every ${BETWEEN_KILLS} end as desired`, {
  timeout: 15 * 60_000,
}, async (context) => {
  const random = randomOf(context);
  platform = await startPlatform(place);
  const account = await registerAccount(place, 'restless');
  const desired: DesiredState[] = [];
  for (let index = 0; index < APPS; index += 1) desired.push(await publish(account, `restless-${index}`));

  let done = 0;
  while (done < OPERATIONS) {
    const round = new AbortController();
    let left = Math.min(BETWEEN_KILLS, OPERATIONS - done);
    const workers = desired.map(async (app) => {
      while (left > 0 && !round.signal.aborted) {
        left -= 1;
        done += 1;
        await operate(place, account, app, random);
      }
    });
    const finished = Promise.all(workers);
    // The moment is what is random here; nothing is awaited that a condition could tell.
    await Promise.race([finished, delay(100 + random() * 2_500)]);
    const victim = VICTIMS[Math.floor(random() * VICTIMS.length)] ?? 'supervisor';
    const recovered = killAndRecover(platform, place, victim);
    round.abort();
    await finished;
    platform = await recovered;
    await until('core to reach its database', async () => (await account.fetch('/v1/apps')).status === 200);
    await assertAsDesired(account, desired);
  }

  for (const app of desired) await assertServes(place, account, app);
  const { dataDirectory } = place;
  await platform.stop();
  await nothingLeft(dataDirectory);
});
