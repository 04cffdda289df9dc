// Clusters of the embedded PostgreSQL for tests of itself: made once, copied for each test, and removed with it.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, type TestContext } from 'node:test';
import { withConnection } from '@platform/core/database';
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from '@platform/core/embedded-postgres';
import { StartError } from '@platform/core/start';
import { makeClusterFolder } from './postgres.ts';

export const asRoot = process.getuid?.() === 0;
/** Settings of data that may be lost. */
export const throwaway = { fsync: 'off' };

/** Copying the programs is a promise of its own; for the others one copy serves. */
export const programsDir = makeClusterFolder();
after(() => fs.rmSync(programsDir, { recursive: true, force: true }));

/** Hooks run in the order of their declaration: that of the folder first, which therefore stops what runs in it. */
const running = new Map<string, EmbeddedPostgres[]>();

export function scratch(t: TestContext, name?: string): string {
  const folder = makeClusterFolder(name);
  t.after(async () => {
    for (const server of running.get(folder) ?? []) await server.stop();
    running.delete(folder);
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  });
  return folder;
}

/** A cluster that was made and stopped, for the promises that are not about making it. */
let made: Promise<string> | undefined;
function madeOnce(): Promise<string> {
  made ??= (async () => {
    const dataDir = makeClusterFolder();
    const server = await startEmbeddedPostgres({ dataDir, programsDir, log: () => {}, settings: throwaway });
    await server.stop();
    return dataDir;
  })();
  return made;
}
after(async () => {
  if (made !== undefined) fs.rmSync(await made, { recursive: true, force: true });
});

/** A data folder with a copy of it. */
export async function copied(t: TestContext, dataDir = scratch(t)): Promise<string> {
  execFileSync('cp', ['-a', `${await madeOnce()}/.`, dataDir]);
  return dataDir;
}

export async function start(
  t: TestContext,
  dataDir: string,
  options: Partial<EmbeddedPostgresOptions> = {},
): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, programsDir, log: () => {}, settings: throwaway, ...options });
  running.set(dataDir, [...(running.get(dataDir) ?? []), server]);
  t.after(() => server.stop());
  return server;
}

export async function ask(url: string, sql: string): Promise<Record<string, unknown>[]> {
  return withConnection(
    { connectionString: url },
    async (client) => (await client.query<Record<string, unknown>>(sql)).rows,
  );
}

/** Why it does not start. */
export async function refusal(dataDir: string, options: Partial<EmbeddedPostgresOptions> = {}): Promise<StartError> {
  try {
    const server = await startEmbeddedPostgres({
      dataDir,
      programsDir,
      log: () => {},
      settings: throwaway,
      ...options,
    });
    await server.stop();
  } catch (error) {
    assert.ok(error instanceof StartError, String(error));
    assert.doesNotMatch(error.message, /\n/);
    return error;
  }
  assert.fail('the server started');
}

/** PostgreSQL’s own folder. */
export function clusterData(dataDir: string): string {
  return path.join(dataDir, 'postgres', 'data');
}
