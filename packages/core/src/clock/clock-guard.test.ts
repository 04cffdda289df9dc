// Promises of the guard: a clock that jumps moves nothing, in either direction, whether core runs or starts again, until
// the clocks agree or the operator says so; a clock that goes as time does is never held.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { ClockGuard, clockAlarm } from './clock-guard.ts';
import type { MachineTime } from './machine-time.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const START = Date.UTC(2026, 5, 1);

let world: Constellation;
let passed = 0;
let set = 0;
/** `null`: PostgreSQL runs on the same machine. */
let databaseSet: number | null = null;
let boot = 'first';
let booted = 0;
let lines: { readonly level: string; readonly message: string }[] = [];

const real = () => START + passed;
const machine: MachineTime = {
  clock: () => new Date(real() + set),
  uptime: () => passed - booted,
  get boot() {
    return boot;
  },
  database: () => new Date(real() + (databaseSet ?? set)),
};
const record = (level: string) => (_fields: object, message: string) => void lines.push({ level, message });
const log = { info: record('info'), warn: record('warn'), error: record('error') };
const open = () => ClockGuard.open(machine, { database: world.core.context.database, log });

before(async () => {
  world = await startConstellation();
});
after(() => world.close());
beforeEach(async () => {
  [passed, set, databaseSet, boot, booted, lines] = [0, 0, null, `boot-${Math.random()}`, -DAY, []];
  const { pool } = world.core.context;
  await pool.query('DELETE FROM clock_readings');
  await pool.query('DELETE FROM clock_acceptances');
});

const nowOf = (guard: ClockGuard) => guard.now().getTime();

describe('a clock that is set while the machine is on', () => {
  for (const [name, by] of [
    ['+100 days', 100 * DAY],
    ['+6 minutes', 6 * MINUTE],
    ['+60 years', 60 * 365 * DAY],
    ['−6 minutes', -6 * MINUTE],
    ['−100 days', -100 * DAY],
    ['back to 1970', -START],
  ] as const)
    test(`${name} moves no time, holds every sweep, and is forgotten when it is set right`, async () => {
      const guard = await open();
      await guard.tick();
      set = by;
      for (let minute = 0; minute < 3; minute += 1) {
        assert.equal(nowOf(guard), real());
        // PostgreSQL on the same machine says that even less has passed.
        assert.equal(guard.proven().getTime(), real() + (minute === 0 ? 0 : Math.min(0, by)));
        assert.equal(await guard.sweep(), null);
        assert.deepEqual(guard.held(), { why: 'jumped', aheadMilliseconds: by });
        passed += MINUTE;
      }
      set = 0;
      assert.equal((await guard.sweep())?.getTime(), real());
      assert.equal(nowOf(guard), real());
    });

  test('the alarm says so once an hour, and that it is over', async () => {
    const guard = await open();
    set = 100 * DAY;
    for (let minute = 0; minute < 61; minute += 1) {
      await guard.tick();
      passed += MINUTE;
    }
    set = 0;
    await guard.tick();
    assert.deepEqual(
      lines.map(({ level }) => level),
      ['error', 'error', 'info'],
    );
    assert.match(lines[0]?.message ?? '', /100 days ahead .*\.\/platform clock accept/);
  });

  test('steps within the tolerance lead nowhere either', async () => {
    const guard = await open();
    for (let step = 0; step < 30; step += 1) {
      set += 4 * MINUTE;
      passed += MINUTE;
      assert.ok(nowOf(guard) - real() <= 5 * MINUTE, `step ${step}`);
    }
    assert.equal(await guard.sweep(), null);
  });

  test('the operator accepts it, and a core that runs goes on with it', async () => {
    const [running, other] = [await open(), await open()];
    await running.tick();
    set = -100 * DAY;
    passed += MINUTE;
    assert.equal(await running.sweep(), null);
    await other.accept();
    assert.equal(other.held(), null);
    assert.equal((await running.sweep())?.getTime(), real() + set);
    await running.tick();
    assert.equal((await open()).held(), null, 'also after a restart');
  });

  test('what the operator said of one clock holds of no other', async () => {
    const [running, other] = [await open(), await open()];
    set = DAY;
    await other.accept();
    set = 100 * DAY;
    assert.equal(await running.sweep(), null);
  });

  test('a core that has not heard the operator yet writes nothing over that', async () => {
    const [running, other] = [await open(), await open()];
    set = -DAY;
    await other.accept();
    await running.tick();
    assert.equal((await open()).held(), null);
  });
});

describe('a restart of core', () => {
  test('does not lose what was known, as long as the machine is on', async () => {
    await (await open()).tick();
    set = 100 * DAY;
    passed += 10 * DAY;
    const again = await open();
    assert.equal(nowOf(again), real());
    assert.deepEqual(again.held(), { why: 'jumped', aheadMilliseconds: set });
  });

  test('months after it stopped is no jump where the machine was on', async () => {
    await (await open()).tick();
    passed += 200 * DAY;
    assert.equal((await (await open()).sweep())?.getTime(), real());
  });

  async function restartMachine(away: number): Promise<ClockGuard> {
    await (await open()).tick();
    passed += away;
    [boot, booted] = [`boot-${Math.random()}`, passed];
    return open();
  }

  test('soon after the machine was off goes on', async () => {
    assert.equal((await (await restartMachine(4 * MINUTE)).sweep())?.getTime(), real());
  });

  test('after a night off goes by the clock, and deletes nothing before the machine has been on for an hour', async () => {
    const guard = await restartMachine(8 * 60 * MINUTE);
    for (let minute = 0; minute < 60; minute += 1) {
      assert.equal(nowOf(guard), real());
      assert.equal(await guard.sweep(), null);
      await guard.tick();
      passed += MINUTE;
    }
    assert.equal((await guard.sweep())?.getTime(), real());
    assert.equal(guard.held(), null);
    set = 10 * DAY;
    assert.deepEqual([await guard.sweep(), guard.held()?.why], [null, 'jumped'], 'it is no longer for having been off');
  });

  test('after a wrong clock at its start deletes nothing where it is set right within the hour', async () => {
    await (await open()).tick();
    passed += 8 * 60 * MINUTE;
    set = 20 * DAY;
    [boot, booted] = ['wrong-at-start', passed];
    const guard = await open();
    for (let minute = 0; minute < 50; minute += 1) {
      assert.equal(await guard.sweep(), null);
      await guard.tick();
      passed += MINUTE;
    }
    set = 0;
    assert.equal(await guard.sweep(), null);
    passed += 10 * MINUTE;
    assert.equal((await guard.sweep())?.getTime(), real());
  });

  test('after a night off deletes at once where the operator says so', async () => {
    const guard = await restartMachine(8 * 60 * MINUTE);
    assert.equal(nowOf(guard), real());
    assert.equal(guard.proven().getTime(), START);
    assert.equal(await guard.sweep(), null);
    assert.equal(guard.held()?.why, 'off');
    await guard.tick();
    passed += MINUTE;
    const again = await open();
    assert.deepEqual([again.held()?.why, nowOf(again)], ['off', real()]);
    assert.equal(again.proven().getTime(), START + MINUTE, 'what is proven is kept');
    await guard.accept();
    assert.equal((await guard.sweep())?.getTime(), real());
  });

  test('of a machine without a battery, which learns the time minutes later', async () => {
    await (await open()).tick();
    passed += 8 * 60 * MINUTE;
    set = -8 * 60 * MINUTE;
    [boot, booted] = ['no-battery', passed];
    const early = await open();
    assert.equal(early.held(), null);
    passed += MINUTE;
    set = 0;
    for (let minute = 0; minute < 20; minute += 1) {
      assert.deepEqual([early.held()?.why, nowOf(early)], ['off', real()], `minute ${minute}`);
      await early.tick();
      passed += MINUTE;
    }
    assert.equal(nowOf(await open()), real());
    assert.equal(await early.sweep(), null);
  });

  test('after months off, for however long it has been on since, or with a clock that a dead battery set, time goes on from the record', async () => {
    const guard = await restartMachine(100 * DAY);
    assert.equal(nowOf(guard), START);
    assert.equal(await guard.sweep(), null);
    passed += 2 * 60 * MINUTE;
    assert.equal(nowOf(guard), START + 2 * 60 * MINUTE);
    assert.equal(await guard.sweep(), null);
    await guard.accept();
    assert.equal(nowOf(guard), real());
    set = -real();
    [boot, booted] = ['another', passed - DAY];
    assert.equal(nowOf(await open()), real());
  });
});

test('PostgreSQL whose clock differs holds sweeps and moves nothing', async () => {
  const guard = await open();
  for (databaseSet of [100 * DAY, -100 * DAY, 6 * MINUTE]) {
    assert.equal(await guard.sweep(), null);
    assert.equal(guard.held()?.why, 'database');
    assert.equal(nowOf(guard), real());
    assert.equal(guard.proven().getTime(), real() + Math.min(0, databaseSet));
  }
  databaseSet = 4 * MINUTE;
  assert.notEqual(await guard.sweep(), null);
});

test('time that passes is never held: sleep, drift, and years', async () => {
  const guard = await open();
  for (const step of [10, 900, 1_100, MINUTE, 8 * 60 * MINUTE, 400 * DAY]) {
    passed += step;
    set += Math.min(Math.round(step / 1_000), MINUTE);
    assert.equal(nowOf(guard), real() + set);
    await guard.tick();
    assert.equal(guard.held(), null, `${step}`);
  }
});

test('the alarm names the clock, by how much, and the way out', () => {
  assert.equal(
    clockAlarm({ why: 'off', aheadMilliseconds: 8 * 60 * MINUTE }),
    'The clock of this machine is 8 hours ahead of the last time on record. Nothing is deleted by age until clocks agree. Set the clock, or if it is right, run: ./platform clock accept',
  );
  assert.match(
    clockAlarm({ why: 'database', aheadMilliseconds: -DAY }),
    /24 hours behind.*Set the clock of its machine/,
  );
});
