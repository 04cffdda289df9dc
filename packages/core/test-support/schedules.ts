// What the tests of schedules share: the app that manages them, with a workload besides its frontend, and a backend that
// is called.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { type Schedule, scheduleAnswer } from '@platform/contract';
import type { TestAccount } from '../../../tests/support/client.ts';
import type { Constellation } from '../../../tests/support/constellation.ts';
import type { CallSettings, InstalledTestApp } from '../../../tests/support/installed-app.ts';
import { installTestApp } from '../../../tests/support/installed-app.ts';
import { buildTestPackage, testManifest } from '../../../tests/support/packages.ts';
import { type RawAnswer, rawRequest } from '../../../tests/support/raw-http.ts';
import { installationRow, openFrontend, startedCredential } from './apps.ts';

export const SCHEDULES = '/v1/services/schedules';
export const JOBS = 'jobs';

/** A package of the platform with the system role. The real one has a frontend only. */
export async function managerPackage(): Promise<{ readonly path: string }> {
  const manifest = testManifest('schedules', {
    systemRoles: ['schedules.manager-ui'],
    permissions: [{ id: 'schedules.manage', resources: ['*'] }],
    workload: { runtime: 'node', entry: 'main.js' },
  });
  const files = { 'frontend/index.html': '<!doctype html><title>t</title>', 'workload/main.js': '' };
  const file = path.join(tmpdir(), `manager-${process.pid}.tgz`);
  await writeFile(file, await buildTestPackage({ manifest, files }));
  return { path: file };
}

export const TRIGGERS = [
  { name: 'daily', path: '/jobs/daily' },
  { name: 'hang', path: '/jobs/hang' },
];

/** An app with triggers. */
export function installJobs(world: Constellation, account: TestAccount, more: object = {}): Promise<InstalledTestApp> {
  const workload = { runtime: 'node', entry: 'main.js', triggers: TRIGGERS, ...more };
  return installTestApp(world, account, JOBS, [], { workload });
}

export const valid = {
  name: 'Morning report',
  cron: '0 8 * * *',
  timeZone: 'Europe/Berlin',
  target: { appId: JOBS, trigger: 'daily' },
};

type Replica = Pick<Constellation, 'port' | 'origin'>;

export interface Manager {
  /** As its workload; to the constellation's own core, or to another replica. */
  call(path: string, settings?: CallSettings, replica?: Replica): Promise<RawAnswer>;
  /** As its frontend. */
  callFrontend(path: string, settings?: CallSettings): Promise<RawAnswer>;
  create(more?: object): Promise<Schedule>;
  change(id: string, change: object): Promise<Schedule>;
  read(id: string): Promise<Schedule>;
  runNow(id: string): Promise<void>;
}

export async function managerOf(world: Constellation, account: TestAccount): Promise<Manager> {
  // Accounts have it from their beginning, but for those of a platform that came without it.
  await account.fetch('/v1/apps', { body: { appId: 'schedules' } });
  const { origin, capability } = await openFrontend(world, account, 'schedules');
  const { id } = await installationRow(world, account, 'schedules');
  const credential = await startedCredential(world, id);
  const send =
    (more: Record<string, string>) =>
    (
      target: string,
      { body, headers, method = body === undefined ? 'GET' : 'POST' }: CallSettings = {},
      { port, origin: at }: Replica = world,
    ) =>
      rawRequest({
        port,
        method,
        path: target,
        headers: {
          host: new URL(at).host,
          ...more,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
  const call = send({ authorization: `Bearer ${credential}` });
  const from = (answer: RawAnswer, status: number) => {
    assert.equal(answer.status, status, answer.text);
    return scheduleAnswer.parse(answer.json).schedule;
  };
  return {
    call,
    callFrontend: send({ authorization: `Bearer ${capability}`, origin }),
    create: async (more = {}) => from(await call(SCHEDULES, { body: { ...valid, ...more } }), 201),
    change: async (scheduleId, body) => from(await call(`${SCHEDULES}/${scheduleId}`, { method: 'PATCH', body }), 200),
    read: async (scheduleId) => from(await call(`${SCHEDULES}/${scheduleId}`), 200),
    runNow: async (scheduleId) => void from(await call(`${SCHEDULES}/${scheduleId}/run`, { method: 'POST' }), 202),
  };
}
