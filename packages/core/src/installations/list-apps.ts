// The installed apps of an account, for the shell and for apps that may see them.
import { type Grant, type InstalledApp, refuse, type ServicesApp } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { resourcesOf } from '../grants/grant-coverage.ts';
import { iconOf, installedApp } from './app-summary.ts';
import { findInstalled, listInstalled, listSummariesOf, type SummaryRow } from './prepared-queries.ts';

interface Page<Item> {
  readonly items: Item[];
  readonly nextCursor: string | null;
}
interface PageQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** Installed apps in the order of their ids. */
export async function listApps(
  context: CoreContext,
  accountKey: string,
  query: PageQuery,
): Promise<Page<InstalledApp>> {
  const list = `apps:${accountKey}`;
  const rows = await listInstalled(context.pool, accountKey, rowsOf(context, list, query));
  return pageOf(context, list, query, rows, installedApp);
}

/** @throws RefusalError `not_found` */
export async function findApp(context: CoreContext, accountKey: string, appId: string): Promise<InstalledApp> {
  const row = await findInstalled(context.pool, accountKey, appId);
  if (row === undefined) throw refuse('not_found');
  return installedApp(row);
}

/**
 * What an app sees of the others: those that the account installed or published, as far as its grant `apps.catalog.read`
 * covers them, without anything secret. One that is not installed is shown in its newest version.
 */
export async function listSummaries(
  context: CoreContext,
  caller: { readonly accountKey: string; readonly installationId: string; readonly grants: readonly Grant[] },
  query: PageQuery,
): Promise<Page<ServicesApp>> {
  const list = `services-apps:${caller.installationId}`;
  const patterns = resourcesOf(caller.grants, 'apps.catalog.read');
  const visible = {
    ids: patterns.filter((one) => !one.endsWith('*')),
    prefixes: patterns.filter((one) => one.endsWith('*')).map((one) => one.slice(0, -1)),
  };
  const rows = await listSummariesOf(context.pool, caller.accountKey, rowsOf(context, list, query), visible);
  return pageOf(context, list, query, rows, (row) => ({
    appId: row.app_id,
    name: row.name,
    summary: row.summary,
    version: row.version,
    icon: iconOf(row),
    installed: row.installed,
    running: row.running,
  }));
}

/** Reads one row more than the page, to know whether there is a next one. */
function rowsOf(context: CoreContext, list: string, { limit, cursor }: PageQuery): { after: string; limit: number } {
  const after = cursor === undefined ? '' : String(context.cursors.decode(list, cursor));
  return { after, limit: limit + 1 };
}

function pageOf<Row extends SummaryRow, Item>(
  context: CoreContext,
  list: string,
  { limit }: PageQuery,
  rows: readonly Row[],
  itemOf: (row: Row) => Item,
): Page<Item> {
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  const nextCursor = last === undefined ? null : context.cursors.encode(list, last.app_id);
  return { items: (last === undefined ? rows : rows.slice(0, limit)).map(itemOf), nextCursor };
}
