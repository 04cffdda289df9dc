// What a workload that calls as fast as it can costs its neighbours: the 99th percentile of a person's request and of
// another app's call through its Gateway, in quiet and beside it, in one run.
import { strict as assert } from 'node:assert';
import { openBackend } from '../../tests/support/backend.ts';
import { registerAccount } from '../../tests/support/client.ts';
import { platformPlace, startPlatform } from '../../tests/support/platform-process.ts';
import { percentile, printRow, reported } from '../machine.ts';
import { installApp, measuring, roaring } from './apps.ts';

const SECONDS = 15;
/** Below the rate of one installation, so that nothing is refused. */
const CALLS_EVERY_MILLISECONDS = 75;
const REQUESTS_EVERY_MILLISECONDS = 25;

const place = await platformPlace();
const platform = await startPlatform(place);
try {
  const person = await registerAccount(place, 'person');
  const loud = await registerAccount(place, 'loud');
  await installApp(place, person, measuring);
  await installApp(place, loud, roaring);
  const measure = await openBackend(place, person, measuring.appId);
  const roar = await openBackend(place, loud, roaring.appId);
  await Promise.all([measure('/?calls=1&every=1'), roar('/?seconds=0')]);

  const look = async () => {
    const calls = measure(`/?calls=${(SECONDS * 1_000) / CALLS_EVERY_MILLISECONDS}&every=${CALLS_EVERY_MILLISECONDS}`);
    const requests = Array.from({ length: (SECONDS * 1_000) / REQUESTS_EVERY_MILLISECONDS }, async (_value, index) => {
      await new Promise((resolve) => setTimeout(resolve, index * REQUESTS_EVERY_MILLISECONDS));
      const begun = performance.now();
      const { status } = await person.fetch('/v1/apps');
      assert.equal(status, 200);
      return performance.now() - begun;
    });
    const person99 = percentile(await Promise.all(requests), 99);
    const measured = JSON.parse((await calls).text) as { status: number; milliseconds: number }[];
    assert.ok(measured.every(({ status }) => status === 200));
    const app99 = percentile(
      measured.map(({ milliseconds }) => milliseconds),
      99,
    );
    return { person99, app99 };
  };

  const quiet = await look();
  const roars = roar(`/?seconds=${SECONDS + 2}`);
  const beside = await look();
  process.stderr.write(`the loud workload got ${(await roars).text}\n`);
  printRow(reported('GET /v1/apps by session, 99th percentile, in quiet', quiet.person99, 'ms'));
  printRow(reported('the same beside a workload with 64 connections at full speed', beside.person99, 'ms'));
  printRow(reported("another app's call through its Gateway, 99th percentile, in quiet", quiet.app99, 'ms'));
  printRow(reported('the same beside that workload', beside.app99, 'ms'));
} finally {
  await platform.stop();
  await place.remove();
}
