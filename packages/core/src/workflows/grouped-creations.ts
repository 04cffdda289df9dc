// Creations of runs of an app that come at the same time share a transaction: they wait for the same lock anyway.
import { limits, RefusalError, refuse, sizeText } from '@platform/contract';
import pg from 'pg';
import { Together } from '../background/together.ts';
import { untilNoDeadlock } from '../database/until-no-deadlock.ts';
import {
  findRunsByIdentity,
  identityKey,
  insertRuns,
  lockForRuns,
  type NewRun,
  type RunRow,
  selectReplaced,
} from './run-queries.ts';

/** Runs that one transaction creates. */
const MOST_RUNS = 32;
/** A run ends when its app ends it, which nobody can tell. */
const RETRY_SECONDS = 5;

export interface CreatedRun {
  readonly row: RunRow;
  /** `false` for one that was there by its identity, with whatever input. */
  readonly created: boolean;
}

const ofPools = new WeakMap<pg.Pool, Together<NewRun, CreatedRun | undefined>>();

/**
 * That of all callers of this pool. `undefined` for a run that was there and was removed at this moment.
 *
 * @throws RefusalError `workflow_run_limit`, `not_found` when the app was just removed. */
export function groupedCreations(pool: pg.Pool): Together<NewRun, CreatedRun | undefined> {
  const known = ofPools.get(pool);
  if (known !== undefined) return known;
  const made = new Together<NewRun, CreatedRun | undefined>({
    ownerOf: ({ installationId }) => installationId,
    keyOf: identityKey,
    groups: 1,
    most: MOST_RUNS,
    work: (runs) => createRuns(pool, runs),
    // It was rolled back.
    didNothing: (error) => error instanceof RefusalError || isRefusedStatement(error),
  });
  ofPools.set(pool, made);
  return made;
}

async function createRuns(pool: pg.Pool, runs: readonly NewRun[]): Promise<(CreatedRun | undefined)[]> {
  const [first] = runs;
  if (first === undefined) return [];
  const known = await findRunsByIdentity(pool, first.installationId, runs);
  const rest = runs.filter((run) => !known.has(identityKey(run)));
  const created =
    rest.length === 0 ? new Map<string, RunRow>() : await untilNoDeadlock(() => insertWithRoom(pool, rest));
  // Another process created these at the same moment.
  const missing = rest.filter((run) => !created.has(identityKey(run)));
  const others =
    missing.length === 0 ? new Map<string, RunRow>() : await findRunsByIdentity(pool, first.installationId, missing);
  return runs.map((run) => {
    const key = identityKey(run);
    const row = created.get(key);
    if (row !== undefined) return { row, created: true };
    const other = known.get(key) ?? others.get(key);
    return other === undefined ? undefined : { row: other, created: false };
  });
}

async function insertWithRoom(pool: pg.Pool, runs: readonly NewRun[]): Promise<ReadonlyMap<string, RunRow>> {
  const { installationId, now } = runs[0] as NewRun;
  const client = await pool.connect();
  let failure: Error | undefined;
  try {
    await client.query('BEGIN');
    if (!(await lockForRuns(client, installationId, runs))) throw refuse('not_found');
    const bytes = runs.reduce((sum, run) => sum + run.bytes, 0);
    const room = { runs: limits.workflowRuns.value - runs.length, bytes: limits.workflowStored.value - bytes, now };
    const replaced = await selectReplaced(client, installationId, room);
    if (replaced === null) throw noRoom();
    const created = await insertRuns(client, installationId, runs, replaced);
    await client.query('COMMIT');
    return created;
  } catch (error) {
    await client.query('ROLLBACK').catch((broken: Error) => {
      failure = broken;
    });
    throw error;
  } finally {
    client.release(failure);
  }
}

export function noRoom(): Error {
  const detail =
    `An app has at most ${limits.workflowRuns.value} running runs, with ${sizeText(limits.workflowStored.value)} of inputs, ` +
    'results and histories together. Wait until one ends, or cancel one.';
  return refuse('workflow_run_limit', detail, { retryAfter: RETRY_SECONDS });
}

/** PostgreSQL refused a statement. A server that ends (class 57) or a lost connection may have committed it. */
export function isRefusedStatement(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code?.startsWith('57') === false;
}
