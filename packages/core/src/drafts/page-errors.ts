// What went wrong in pages of apps that apps made: the shell hears it from the page and hands it in, and the app that made it reads it.
import { createHash } from 'node:crypto';
import { limits, type PageError, type PageErrorReport, pageErrorReport, refuse } from '@platform/contract';
import { findAppVersion } from '../catalog/face.ts';
import { earlier, type ProvenTime } from '../clock/clock-guard.ts';
import type { CoreContext } from '../context.ts';
import type { Executor } from '../database/schema.ts';
import { lockOwn, selectOwn } from '../installations/face.ts';
import {
  deleteOldErrors,
  selectErrors,
  selectMadeInstallations,
  selectMadeVersion,
  trimErrors,
  upsertError,
} from './made-queries.ts';
import { type MadeApp, notMade, publishedByHand, requirePrivate } from './made-source.ts';
import { lockMade, selectMaker } from './queries.ts';

const HOUR_MILLISECONDS = 3_600_000;
const KEPT_MILLISECONDS = limits.pageErrorHours.value * HOUR_MILLISECONDS;

/** @returns whether it is of a version that an app made, and so kept */
export async function reportPageError(
  context: CoreContext,
  { accountKey, appId }: Pick<MadeApp, 'accountKey' | 'appId'>,
  report: PageErrorReport,
): Promise<boolean> {
  const { database, clock } = context;
  const made = { accountKey, appId };
  // Most apps are none, and nothing is locked for what they say.
  if (!(await isMade(database, made, await selectOwn(database, accountKey, appId)))) return false;
  const text = JSON.stringify(report);
  return database.transaction().execute(async (trx) => {
    // Another version, its removal and other reports wait for this, as it did for them.
    const own = await lockOwn(trx, accountKey, appId);
    if (own === undefined || !(await isMade(trx, made, own))) return false;
    // All apps of an account share what it may fill, so reports of several wait for each other.
    await lockMade(trx, accountKey);
    const { id, version } = own;
    const digest = createHash('sha256').update(`${version}\n${text}`).digest();
    const now = clock();
    await upsertError(trx, { installation_id: id, digest, version, report: text, last_at: now });
    const { pageErrors, pageErrorsSize, pageErrorsAccountSize } = limits;
    await trimErrors(trx, [id], { most: pageErrors.value, bytes: pageErrorsSize.value, now });
    await trimErrors(trx, await selectMadeInstallations(trx, accountKey), { bytes: pageErrorsAccountSize.value, now });
    return true;
  });
}

/** Whether what is installed is the very package that an app made: its owner may have published another under the same number. */
async function isMade(
  db: Executor,
  { accountKey, appId }: Pick<MadeApp, 'accountKey' | 'appId'>,
  own: { readonly version: string } | undefined,
): Promise<boolean> {
  if (own === undefined) return false;
  const { version } = own;
  const hash = await selectMadeVersion(db, accountKey, { appId, version });
  return hash !== undefined && (await findAppVersion(db, appId, version))?.packageHash === hash;
}

/**
 * The installation of an app whose log and errors its maker may see: as it is installed now, in a version that was made.
 *
 * @throws RefusalError `not_found`, `not_authorized`
 */
export async function installedMade({ database }: CoreContext, { accountKey, appId, madeBy }: MadeApp) {
  if ((await selectMaker(database, accountKey, appId)) !== madeBy) throw notMade(appId);
  const own = await selectOwn(database, accountKey, appId);
  if (own === undefined) throw refuse('not_found', `${appId} is not installed, so it has neither log nor errors.`);
  const { version } = own;
  const present = await findAppVersion(database, appId, version);
  if (present === undefined || present.ownerKey !== accountKey) throw notMade(appId);
  requirePrivate(appId, present.visibility);
  if ((await selectMadeVersion(database, accountKey, { appId, version })) !== present.packageHash)
    throw publishedByHand(appId, version);
  return own;
}

/** Newest first, as many as fit. @throws RefusalError as {@link installedMade} */
export async function readPageErrors(context: CoreContext, made: MadeApp): Promise<PageError[]> {
  const { id: installationId } = await installedMade(context, made);
  const since = new Date(context.clock().getTime() - KEPT_MILLISECONDS);
  const rows = await selectErrors(context.database, { ...made, installationId, since });
  const errors = rows.map(({ report, version, times, last_at }) => ({
    ...pageErrorReport.parse(JSON.parse(report)),
    ...{ version: version as PageError['version'], times, at: last_at.toISOString() },
  }));
  return fitting(errors);
}

/** The first ones, as long as their text fits into one answer. One that is too long by itself hides none of the others. */
export function fitting<Item>(items: readonly Item[]): Item[] {
  let left: number = limits.madeAppText.value;
  const possible = items.filter((item) => JSON.stringify(item).length <= limits.madeAppText.value);
  const end = possible.findIndex((item) => {
    left -= JSON.stringify(item).length;
    return left < 0;
  });
  return possible.slice(0, end === -1 ? undefined : end);
}

const BATCH = 500;

/** @returns whether there may be more to remove */
export async function sweepPageErrors(
  { database }: Pick<CoreContext, 'database'>,
  proven: ProvenTime,
): Promise<boolean> {
  const before = earlier(proven, KEPT_MILLISECONDS);
  return (await deleteOldErrors(database, { proven: before, atMost: BATCH })) === BATCH;
}
