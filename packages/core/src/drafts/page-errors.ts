// What went wrong in pages of apps that apps made: the shell hears it from the page and hands it in, and the app that made it reads it.
import { createHash } from 'node:crypto';
import { limits, type PageError, type PageErrorReport, pageErrorReport, refuse } from '@platform/contract';
import { findAppVersion } from '../catalog/face.ts';
import { earlier, type ProvenTime } from '../clock/clock-guard.ts';
import type { CoreContext } from '../context.ts';
import { selectOwn } from '../installations/face.ts';
import { deleteOldErrors, selectErrors, selectMadeVersion, trimErrors, upsertError } from './made-queries.ts';
import { type MadeApp, notMade, publishedByHand, requirePrivate } from './made-source.ts';
import { selectMaker } from './queries.ts';

const HOUR_MILLISECONDS = 3_600_000;
const KEPT_MILLISECONDS = limits.pageErrorHours.value * HOUR_MILLISECONDS;

/** @returns whether it is of a version that an app made, and so kept */
export async function reportPageError(
  context: CoreContext,
  { accountKey, appId }: Pick<MadeApp, 'accountKey' | 'appId'>,
  report: PageErrorReport,
): Promise<boolean> {
  const { database, clock } = context;
  const own = await selectOwn(database, accountKey, appId);
  if (own === undefined) return false;
  const { id, version } = own;
  if ((await selectMadeVersion(database, accountKey, { appId, version })) === undefined) return false;
  const text = JSON.stringify(report);
  const digest = createHash('sha256').update(`${version}\n${text}`).digest();
  await database.transaction().execute(async (trx) => {
    await upsertError(trx, { installation_id: id, digest, version, report: text, last_at: clock() });
    await trimErrors(trx, id, limits.pageErrors.value);
  });
  return true;
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

/** The first ones, as long as their text fits into one answer. */
export function fitting<Item>(items: readonly Item[]): Item[] {
  let left: number = limits.madeAppText.value;
  const end = items.findIndex((item) => {
    left -= JSON.stringify(item).length;
    return left < 0;
  });
  return items.slice(0, end === -1 ? undefined : end);
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
