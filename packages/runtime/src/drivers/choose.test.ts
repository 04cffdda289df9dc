// Which driver `auto` takes, and what it says about it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Candidate, type Candidates, chooseDriver, type Opened } from './choose.ts';
import type { DriverName } from './driver.ts';

function machine(can: Partial<Record<DriverName, Partial<Candidate<Opened>> & { ok: boolean }>>) {
  const opened: string[] = [];
  const closed: string[] = [];
  const candidates: Candidates<Opened> = Object.fromEntries(
    Object.entries(can).map(([name, { ok, ...more }]) => [
      name,
      {
        ...more,
        async open() {
          opened.push(name);
          return driverOf(name as DriverName, ok, () => closed.push(name));
        },
      },
    ]),
  );
  return { opened, closed, candidates };
}

function driverOf(name: DriverName, ok: boolean, onClose: () => void): Opened {
  return {
    report: {
      driver: name,
      ok,
      mechanism: name,
      limits: { memory: false, cpus: false, pids: false, sockets: false },
      reasons: ok ? [] : [`${name} cannot.`],
    },
    close: async () => onClose(),
  };
}

test('auto takes the strongest that confines, and touches none after it', async () => {
  const { opened, candidates } = machine({ microvm: { ok: true }, process: { ok: true }, docker: { ok: true } });
  const { driver } = await chooseDriver('auto', candidates);
  assert.equal(driver.report.driver, 'microvm');
  assert.deepEqual(opened, ['microvm']);
});

test('auto never opens an engine where processes can be confined, and says what it passed over', async () => {
  const { opened, candidates } = machine({
    microvm: { ok: true, unfit: async () => 'there is no KVM.' },
    process: { ok: true },
    docker: { ok: true },
  });
  const { driver, because } = await chooseDriver('auto', candidates);
  assert.equal(driver.report.driver, 'process');
  assert.deepEqual(opened, ['process']);
  assert.deepEqual(because, ['It is the strongest that this machine can run.', 'Not microvm: there is no KVM.']);
});

test('auto goes past one that confines but is weaker than it looks', async () => {
  const { closed, candidates } = machine({
    microvm: { ok: true, weaker: () => 'guests run in emulation.' },
    process: { ok: true },
  });
  assert.equal((await chooseDriver('auto', candidates)).driver.report.driver, 'process');
  assert.deepEqual(closed, ['microvm']);
});

test('auto takes the engine where nothing else confines', async () => {
  const { closed, candidates } = machine({ process: { ok: false }, docker: { ok: true } });
  const { driver, because } = await chooseDriver('auto', candidates);
  assert.equal(driver.report.driver, 'docker');
  assert.deepEqual(closed, ['process']);
  assert.ok(because.includes('Not process: process cannot.'));
});

test('where nothing confines, auto leaves process, which refuses every start and says why', async () => {
  const { closed, candidates } = machine({ process: { ok: false }, docker: { ok: false } });
  const { driver, because } = await chooseDriver('auto', candidates);
  assert.equal(driver.report.driver, 'process');
  assert.equal(driver.report.ok, false);
  assert.deepEqual(closed, ['docker']);
  assert.deepEqual(because, ['Not process: process cannot.', 'Not docker: docker cannot.']);
});

test('a named driver is taken as it is, whether it confines or not', async () => {
  const { opened, candidates } = machine({ process: { ok: true }, docker: { ok: false } });
  assert.equal((await chooseDriver('docker', candidates)).driver.report.ok, false);
  assert.deepEqual(opened, ['docker']);
});
