// The docker driver under kills: of the platform with its Runtime, of the engine, of both, in the middle of use. What runs
// is as its owner last requested, no volume had two writers, and in the end nothing is left on the engine or the machine.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkloadStatus } from '@platform/contract';
import { engineMissing, prepareEngine, type TestEngine } from '../../packages/runtime/test-support/docker-engine.ts';
import { type Engine, labels, openEngine } from '../../packages/runtime/test-support/internals.ts';
import { openBackend } from '../support/backend.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { inOwnNetwork } from '../support/own-network.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { randomOf, thorough } from '../support/thorough.ts';
import { until } from '../support/wait.ts';
import { nothingLeft } from './leftovers.ts';
import { assertAsDesired, assertServes, type DesiredState, operate, publish } from './lifecycle-operations.ts';

const OPERATIONS = thorough(12, 150);
const BETWEEN_KILLS = 12;
const APPS = 3;
const PATIENCE = 120_000;
/** Milliseconds that any stop may take. */
const STOP_LIMIT = 10_000;
const RUN_FOLDER = '/run/platform-docker';

inOwnNetwork(import.meta.url, { skip: engineMissing(), timeout: 30 * 60_000 }, () => {
  let engine: TestEngine;
  let docker: Engine;
  let place: PlatformPlace;
  let platform: PlatformProcess;
  let account: TestAccount;
  /** Apps of the test that runs. */
  let desired: DesiredState[];

  before(async () => {
    engine = prepareEngine('ours');
    place = await platformPlace({
      PLATFORM_RUNTIME_DRIVER: 'docker',
      PLATFORM_RUNTIME_DOCKER_SOCKET: engine.socketPath,
    });
    await engine.start();
    docker = await openEngine(engine.socketPath);
    platform = await startPlatform(place);
    account = await registerAccount(place, 'restless');
  });
  after(async () => {
    try {
      assert.equal(await platform.stop(), 0, platform.output());
      await nothingLeft(place.dataDirectory);
      await nothingOnTheEngine();
      await place.remove();
    } finally {
      await engine.remove();
    }
  });

  beforeEach(() => {
    desired = [];
  });
  afterEach(async () => {
    for (const { appId } of desired) await account.fetch(`/v1/apps/${appId}`, { method: 'DELETE' });
    await until('the workloads to be gone', async () => (await containers('workload')).length === 0, PATIENCE);
    await noForgottenShims();
  });

  test('a backend outlives the platform that is killed, and the next one has it', async () => {
    const app = await installed('survivor', 'always');
    const before = await pidOf(await workload());
    assert.equal(await ask(app, '/'), '');
    await platform.kill('SIGKILL');
    assert.equal(await pidOf(await workload()), before);
    platform = await startPlatform(place);
    await runs(app);
    assert.equal(await pidOf(await workload()), before);
    await assertServes(place, account, app);
  });

  test('after the engine was killed, what should run runs again, and the platform was there all the time', async () => {
    const [always, sleeper] = [await installed('steady', 'always'), await installed('sleeper', 'automatic')];
    assert.equal(await ask(sleeper, '/'), '');
    const former = await idsOfAll();
    await engine.kill();
    assert.equal((await account.browser.take<{ items: object[] }>('/v1/apps')).items.length >= 2, true);
    await engine.start();
    // The one by itself, and the other for who comes, as always.
    await until('both to answer', async () => (await answers(always)) && (await answers(sleeper)), PATIENCE);
    for (const app of [always, sleeper]) await assertServes(place, account, app);
    assert.equal((await containers('workload')).length, 2);
    const kept = async () => (await idsOfAll()).filter((id) => former.includes(id));
    await until('the former containers to be gone', async () => (await kept()).length === 0, PATIENCE);
  });

  for (const [how, goAway, comeBack] of [
    ['does not answer', () => engine.freeze(), () => engine.thaw()],
    ['is dead', () => engine.kill(), () => engine.start()],
  ] as const) {
    test(`a stop of the platform while the engine ${how} takes no longer than any, and the next start tidies up`, async () => {
      const app = await installed(`left-${how.split(' ').at(-1)}`, 'always');
      const former = await idsOfAll();
      await goAway();
      const began = performance.now();
      const code = await platform.stop();
      const took = performance.now() - began;
      // The kernel takes a moment to end what was killed.
      await until('no workload to run on', () => strays().length === 0, STOP_LIMIT).catch(() => undefined);
      const left = strays();
      // Before any judgement: what follows would wait for an engine that is away.
      await comeBack();
      const { output } = platform;
      platform = await startPlatform(place);
      assert.equal(code, 0, output());
      assert.ok(took < STOP_LIMIT, `${Math.round(took)} ms`);
      assert.match(output(), /will be removed at the next start/);
      assert.deepEqual(left, [], 'no workload runs on');
      await runs(app);
      assert.deepEqual(
        (await idsOfAll()).filter((id) => former.includes(id)),
        [],
      );
      await assertServes(place, account, app);
    });
  }

  test(`${OPERATIONS} lifecycle operations with kills of engine and platform among them end as desired`, async (context) => {
    const random = randomOf(context);
    for (let index = 0; index < APPS; index += 1)
      desired.push(await publish(account, `restless-${index}`, index === 0 ? 'always' : 'automatic'));
    const kills = { engine: 0, platform: 0 };
    const outcomes = { answered: 0, lost: 0 };
    for (let done = 0; done < OPERATIONS; ) {
      const round = new AbortController();
      const first = done;
      const killAfter = 1 + Math.floor(random() * BETWEEN_KILLS);
      const workers = desired.map(async (app) => {
        while (done < Math.min(OPERATIONS, first + BETWEEN_KILLS) && !round.signal.aborted) {
          done += 1;
          outcomes[await operate(place, account, app, random)] += 1;
        }
      });
      const finished = Promise.all(workers);
      await Promise.race([finished, until('the moment of the kill', () => done - first >= killAfter, PATIENCE)]);
      // In the middle of what is under way: the moment is what is random here.
      await Promise.race([finished, delay(random() * 1_500)]);
      const victims = random();
      if (victims < 0.6) {
        await engine.kill();
        kills.engine += 1;
      }
      if (victims > 0.4) {
        await platform.kill('SIGKILL');
        kills.platform += 1;
        round.abort();
        await finished;
      }
      if (victims < 0.6) await engine.start();
      if (victims > 0.4) platform = await startPlatform(place);
      await finished;
      await assertAsDesired(account, desired);
    }
    context.diagnostic(`PLATFORM_TEST_KILLS ${JSON.stringify({ ...kills, ...outcomes })}`);
    for (const app of desired) await assertServes(place, account, app);
    assert.equal((await containers('workload')).length, APPS);
  });

  async function installed(appId: string, mode: DesiredState['mode']): Promise<DesiredState> {
    const app = await publish(account, appId, mode);
    desired.push(app);
    await account.browser.take('/v1/apps', { body: { appId } });
    app.installed = true;
    if (mode === 'always') await runs(app);
    return app;
  }

  async function answers({ appId }: DesiredState): Promise<boolean> {
    return (await (await openBackend(place, account, appId))('/')).status === 200;
  }

  async function ask({ appId }: DesiredState, path: string): Promise<string> {
    const { status, text } = await (await openBackend(place, account, appId))(path);
    assert.equal(status, 200, text);
    return text;
  }

  function runs({ appId }: DesiredState): Promise<unknown> {
    const isRunning = async () => {
      const { state } = await account.browser.take<WorkloadStatus>(`/v1/apps/${appId}/status`);
      return state === 'running';
    };
    return until(`${appId} to run`, isRunning, PATIENCE);
  }

  function containers(role: string) {
    return docker.listContainers({ filters: { label: [`${labels.role}=${role}`] } });
  }

  /** Of workloads and Gateways, those of the spare included. */
  async function idsOfAll(): Promise<string[]> {
    return (await docker.listContainers({ filters: { label: [labels.owner] } })).map(({ Id }) => Id);
  }

  /** A shim that no container has any more stays for good; one that ends takes a moment. */
  async function noForgottenShims(): Promise<void> {
    const forgotten = async () => {
      const known = await docker.listContainers({ all: true });
      return engine.shims().filter((id) => known.every(({ Id }) => Id !== id));
    };
    await until('no shim to be left', async () => (await forgotten()).length === 0).catch(() => undefined);
    assert.deepEqual(await forgotten(), []);
  }

  async function workload() {
    const [only, ...others] = await containers('workload');
    assert.ok(only !== undefined && others.length === 0);
    return docker.getContainer(only.Id);
  }

  /** As the driver tells data folders apart. */
  function ownerOf(folder: string): string {
    const { dev, ino } = statSync(folder);
    return createHash('sha256').update(`${dev} ${ino}`).digest('hex').slice(0, 4);
  }

  async function pidOf(container: Awaited<ReturnType<typeof workload>>): Promise<number> {
    return (await container.inspect()).State.Pid;
  }

  async function nothingOnTheEngine(): Promise<void> {
    const filters = { label: [labels.owner] };
    const all = await docker.listContainers({ all: true, filters });
    const networks = await docker.listNetworks({ filters });
    assert.deepEqual([...all.flatMap(({ Names }) => Names), ...networks.map(({ Name }) => Name)], []);
    assert.deepEqual(engine.shims(), []);
    assert.doesNotMatch(execFileSync('nft', ['list', 'ruleset'], { encoding: 'utf8' }), /platform/);
    // Ends of cables (veth) that a killed engine forgot are its own: nobody else can tell whose they were.
    assert.doesNotMatch(execFileSync('ip', ['-o', 'link'], { encoding: 'utf8' }), /: (pr|pp)/);
    assert.equal(existsSync(RUN_FOLDER) && readdirSync(RUN_FOLDER).includes(ownerOf(place.dataDirectory)), false);
    assert.equal(readFileSync('/proc/self/mounts', 'utf8').includes(place.dataDirectory), false);
  }

  /** Processes of cells of our data folder: those that see a file of it mounted. */
  function strays(): string[] {
    const mark = `/platform-docker/${ownerOf(place.dataDirectory)}/cells/`;
    return readdirSync('/proc').filter((name) => {
      if (!/^\d+$/.test(name)) return false;
      try {
        return readFileSync(`/proc/${name}/mountinfo`, 'latin1').includes(mark);
      } catch {
        // It ended while we looked.
        return false;
      }
    });
  }
});
