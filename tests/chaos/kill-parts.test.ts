// Kills the parts of the platform with SIGKILL, each apart from the others, at random moments of lifecycle operations:
// core, a node's Runtime, and single sandboxes. The Gateways of the `process` driver live in the Runtime and die with it;
// nothing outside can end one alone (docs/decisions/gateway-failures.md).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { descendants } from '../../packages/runtime/test-support/processes.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { joinNode, type NodePlace, nodePlace, startNode } from '../support/node-process.ts';
import { emptyPlace, type LongCommand, type PlatformPlace, startPlatform } from '../support/platform-process.ts';
import { randomOf, thorough } from '../support/thorough.ts';
import { nothingLeft } from './leftovers.ts';
import { assertAsDesired, assertServes, type DesiredState, operate, publish } from './lifecycle-operations.ts';

/** Each is repeated until core answers. */
const OPERATIONS = thorough(40, 150);
const BETWEEN_KILLS = 15;
const VICTIMS = [['core'], ['runtime'], ['sandbox'], ['runtime'], ['core', 'runtime']] as const;
const MODES = ['automatic', 'automatic', 'automatic', 'always'] as const;
const LONGEST_WAIT = 60_000;

/** One part of the platform, started again as soon as it was killed, as a service manager does. */
class Part {
  readonly #start: () => Promise<LongCommand>;
  #running: Promise<LongCommand>;
  kills = 0;

  constructor(first: LongCommand, start: () => Promise<LongCommand>) {
    this.#start = start;
    this.#running = Promise.resolve(first);
  }

  /** Resolves when it runs. */
  up(): Promise<LongCommand> {
    return this.#running;
  }

  /** Kills it and resolves when it runs again. */
  async kill(): Promise<void> {
    const former = await this.#running;
    this.kills += 1;
    this.#running = former.kill('SIGKILL').then(this.#start);
    await this.#running;
  }
}

/** Hands out operations, so many between two kills: what finds a part killed is answered at once and would take all. */
class Turns {
  /** Not handed out yet. */
  left: number;
  #free = 0;
  #given = Promise.withResolvers<void>();
  #used = Promise.withResolvers<void>();

  constructor(all: number) {
    this.left = all;
  }

  /** Lets so many more begin. Resolves when all of them have. */
  give(more: number): Promise<void> {
    this.#free += Math.min(more, this.left);
    this.left -= Math.min(more, this.left);
    this.#used = Promise.withResolvers<void>();
    const { resolve } = this.#given;
    this.#given = Promise.withResolvers<void>();
    resolve();
    return this.#used.promise;
  }

  /** Resolves when one more may begin; with `false` when none is left. */
  async take(): Promise<boolean> {
    while (this.#free === 0) {
      this.#used.resolve();
      if (this.left === 0) return false;
      await this.#given.promise;
    }
    this.#free -= 1;
    return true;
  }
}

let corePlace: PlatformPlace;
let node: NodePlace;
let core: Part | undefined;
let runtime: Part | undefined;

before(async () => {
  corePlace = await emptyPlace({ PLATFORM_LOCAL_NODE: 'false' });
  node = await nodePlace({ PLATFORM_RUNTIME_DRIVER: 'process' });
});
after(async () => {
  await (await runtime?.up())?.stop();
  await (await core?.up())?.stop();
  await node.remove();
  await corePlace.remove();
});

test(`${OPERATIONS} lifecycle operations end as desired while core, the Runtime and sandboxes are killed one by one`, {
  timeout: 15 * 60_000,
}, async (context) => {
  const random = randomOf(context);
  const coreHere = new Part(await startPlatform(corePlace), () => startPlatform(corePlace));
  core = coreHere;
  const runtimeHere = new Part(await joinNode(corePlace, node, { name: 'apart' }), () => startNode(node));
  runtime = runtimeHere;
  const account = await registerAccount(corePlace, 'restless');
  const desired: DesiredState[] = [];
  for (const [index, mode] of MODES.entries()) desired.push(await publish(account, `restless-${index}`, mode));

  const turns = new Turns(OPERATIONS);
  const workers = desired.map(async (app) => {
    while (await turns.take()) {
      do await coreHere.up();
      while ((await operate(node, account, app, random)) === 'lost');
    }
  });
  const finished = Promise.all(workers);
  // Looked at when everything was killed; until then nobody must be surprised.
  finished.catch(() => undefined);
  let sandboxes = 0;
  for (let round = 0; turns.left > 0; round += 1) {
    const used = turns.give(BETWEEN_KILLS);
    // The moment is what is random here; nothing is awaited that a condition could tell.
    await Promise.race([finished, used, delay(100 + random() * 1_500)]);
    const victims = VICTIMS[round % VICTIMS.length] ?? [];
    await Promise.all(
      victims.map(async (victim) => {
        if (victim === 'core') await coreHere.kill();
        else if (victim === 'runtime') await runtimeHere.kill();
        else sandboxes += killOne(await sandboxesOf(runtimeHere), random);
      }),
    );
  }
  await finished;
  context.diagnostic(
    `killed: core ${coreHere.kills}, Runtime ${runtimeHere.kills}, processes of sandboxes ${sandboxes}`,
  );

  await assertAsDesired(account, desired);
  for (const app of desired) await assertRestsAsDesired(account, app);
  for (const app of desired) await assertServes(node, account, app);
  await (await runtimeHere.up()).stop();
  await nothingLeft(node.dataDirectory);
  await (await coreHere.up()).stop();
  await nothingLeft(corePlace.dataDirectory);
});

/** The processes below the Runtime, as soon as there are some; nothing may run for a while. */
async function sandboxesOf(part: Part): Promise<ReturnType<typeof descendants>> {
  const limit = performance.now() + 3_000;
  for (;;) {
    const found = descendants((await part.up()).pid);
    if (found.length > 0 || performance.now() > limit) return found;
    await delay(10);
  }
}

/** Any process of any sandbox: its launcher, its first process, the workload. */
function killOne(processes: readonly { readonly pid: number; alive(): boolean }[], random: () => number): number {
  const chosen = processes[Math.floor(random() * processes.length)];
  if (chosen === undefined || !chosen.alive()) return 0;
  try {
    process.kill(chosen.pid, 'SIGKILL');
  } catch {
    // It ended meanwhile.
    return 0;
  }
  return 1;
}

/** Without anybody asking for it: what was stopped rests, and what shall always run does, unless it was killed too often. */
async function assertRestsAsDesired(account: TestAccount, app: DesiredState): Promise<void> {
  if (app.installed !== true || app.stopped === 'unknown') return;
  const expected = app.stopped ? /^stopped$/ : app.mode === 'always' ? /^(running|failed)$/ : /./;
  const limit = performance.now() + LONGEST_WAIT;
  for (;;) {
    const { status, text, json } = await account.fetch(`/v1/apps/${app.appId}/status`);
    const { state, reason = '' } = (json ?? {}) as { state?: string; reason?: string };
    if (status === 200 && expected.test(state ?? '')) {
      if (state === 'failed') assert.match(reason, /Gave up after \d+ failed starts/);
      return;
    }
    assert.ok(performance.now() < limit, `${app.appId} does not come to rest: ${text}`);
    await delay(50);
  }
}
