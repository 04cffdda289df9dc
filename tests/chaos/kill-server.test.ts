// Kills the processes of the platform with SIGKILL at random moments of a write load, and finds every acknowledged write
// afterwards: the supervisor, with which everything ends, and each part, which the supervisor restarts.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { registerAccount, type TestAccount } from '../support/client.ts';
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

const KILLS = thorough(16, 50);
const WRITERS = 4;

interface Writer {
  readonly account: TestAccount;
  readonly passkeyId: string;
  /** The number in the label that was acknowledged last, and the one sent last. */
  acknowledged: number;
  sent: number;
}

let place: PlatformPlace;
let platform: PlatformProcess | undefined;

before(async () => {
  // A fast machine registers more accounts than one address may.
  place = await platformPlace({ PLATFORM_RATE_LIMITS: 'authentication=100000' });
});
after(async () => {
  await platform?.stop();
  await place.remove();
});

test(`every acknowledged write survives ${KILLS} kills of the processes of the platform at random moments`, {
  timeout: 15 * 60_000,
}, async (context) => {
  const random = randomOf(context);
  platform = await startPlatform(place);
  const writers: Writer[] = [];
  for (let index = 0; index < WRITERS; index += 1) writers.push(await newWriter(`writer-${index}`));
  const registered: string[] = [];
  const killed = new Map<string, number>();
  let writes = 0;

  for (let kill = 0; kill < KILLS; kill += 1) {
    const load = new AbortController();
    const running = [
      ...writers.map((writer) => writeLabels(writer, load.signal)),
      registerMore(kill, registered, load.signal),
    ];
    // The moment is what is random here; nothing is awaited that a condition could tell.
    await delay(20 + random() * 400);
    const victim = VICTIMS[Math.floor(random() * VICTIMS.length)] ?? 'supervisor';
    const recovered = killAndRecover(platform, place, victim);
    load.abort();
    await Promise.all(running);
    platform = await recovered;
    killed.set(victim, (killed.get(victim) ?? 0) + 1);
    for (const writer of writers) {
      const stored = await storedNumber(writer);
      assert.ok(
        stored >= writer.acknowledged,
        `kill ${kill} (${victim}): ${writer.account.name} lost ${writer.acknowledged}, has ${stored}`,
      );
      assert.ok(
        stored <= writer.sent,
        `kill ${kill} (${victim}): ${writer.account.name} has ${stored}, which was never sent`,
      );
      writer.sent = stored;
      writer.acknowledged = stored;
    }
    writes = writers.reduce((sum, { acknowledged }) => sum + acknowledged, registered.length);
  }
  for (const name of registered) {
    await assert.rejects(
      registerAccount(place, name),
      /account_name_taken/,
      `the account ${name} was acknowledged and is gone`,
    );
  }
  context.diagnostic(
    `${writes} acknowledged writes, ${registered.length} of them accounts; killed: ${JSON.stringify(Object.fromEntries(killed))}`,
  );
  assert.ok(writes > 0, 'the load wrote nothing');
});

async function newWriter(name: string): Promise<Writer> {
  const account = await registerAccount(place, name);
  const answer = await account.fetch('/v1/auth/passkeys');
  const { items } = answer.json as { items: { id: string }[] };
  const passkeyId = items[0]?.id;
  assert.ok(passkeyId !== undefined);
  return { account, passkeyId, acknowledged: 0, sent: 0 };
}

async function writeLabels(writer: Writer, stopped: AbortSignal): Promise<void> {
  while (!stopped.aborted) {
    writer.sent += 1;
    const label = `label ${writer.sent}`;
    try {
      const answer = await writer.account.fetch(`/v1/auth/passkeys/${writer.passkeyId}`, {
        method: 'PATCH',
        body: { label },
      });
      if (answer.status !== 200) return;
      writer.acknowledged = writer.sent;
    } catch {
      // The connection broke: whether this write happened is not known, and nothing was promised.
      return;
    }
  }
}

async function registerMore(kill: number, registered: string[], stopped: AbortSignal): Promise<void> {
  for (let index = 0; !stopped.aborted; index += 1) {
    const name = `kill-${kill}-${index}`.replace(/-(\d)/g, '-n$1');
    try {
      await registerAccount(place, name);
      registered.push(name);
    } catch {
      return;
    }
  }
}

async function storedNumber(writer: Writer): Promise<number> {
  // Connections to a database that was killed are found broken by the first that uses them.
  const answer = await until('core to reach its database', async () => {
    const { status, text, json } = await writer.account.fetch('/v1/auth/passkeys');
    return status === 503 ? undefined : { status, text, json };
  });
  assert.equal(answer.status, 200, `${writer.account.name} lost its session: ${answer.text}`);
  const { items } = answer.json as { items: { id: string; label: string }[] };
  const label = items.find(({ id }) => id === writer.passkeyId)?.label ?? '';
  return /^label \d+$/.test(label) ? Number(label.slice(6)) : 0;
}
