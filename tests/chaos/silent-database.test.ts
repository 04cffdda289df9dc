// The embedded PostgreSQL of the running platform hangs: core refuses at once instead of letting requests wait, the
// supervisor restarts it, and what was acknowledged is there.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { registerAccount } from '../support/client.ts';
import {
  type PlatformPlace,
  type PlatformProcess,
  partOf,
  platformPlace,
  startPlatform,
} from '../support/platform-process.ts';
import { STORY_MS, until } from '../support/wait.ts';

let place: PlatformPlace;
let platform: PlatformProcess | undefined;

before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
});
after(async () => {
  await platform?.stop();
  await place.remove();
});

test('a PostgreSQL that hangs is answered for with 503 at once, restarted, and has every acknowledged write', {
  timeout: STORY_MS,
}, async () => {
  const account = await registerAccount(place, 'before');
  const read = () => account.fetch('/v1/auth/passkeys');
  assert.equal((await read()).status, 200);
  const { pid } = await partOf(place, 'PostgreSQL');
  assert.ok(pid !== null);
  process.kill(pid, 'SIGSTOP');
  // New connections are what hangs: those that core has are served by processes of their own.
  const refused = await until(
    'core to refuse',
    async () => {
      const answer = await read();
      return answer.status === 503 ? answer : undefined;
    },
    30_000,
  );
  assert.equal((refused.json as { code: string }).code, 'unavailable');
  assert.equal(refused.headers['retry-after'], '2');
  const begun = performance.now();
  const answers = await Promise.all(Array.from({ length: 20 }, read));
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [503]);
  assert.ok(performance.now() - begun < 2_000, 'requests waited for a database that hangs');
  await until(
    'PostgreSQL to be restarted',
    async () => {
      const now = await partOf(place, 'PostgreSQL');
      return now.pid !== null && now.pid !== pid;
    },
    90_000,
  );
  await until('core to serve again', async () => (await read()).status === 200);
  assert.match((await partOf(place, 'PostgreSQL')).lastExit ?? '', /did not answer/);
  await registerAccount(place, 'afterwards');
});
