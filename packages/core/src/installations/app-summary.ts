// The wire shape of an installed app, made from its database row.
import type { InstalledApp } from '@platform/contract';
import * as semver from 'semver';
import { iconPath, isPlatformAppId } from '../catalog/face.ts';
import type { InstalledRow, SummaryRow } from './prepared-queries.ts';

/** Path on the shell's origin, of this very version: another one may look like another app. */
export function iconOf({ app_id, version, icon }: SummaryRow): string | null {
  return icon === null ? null : iconPath(app_id, version, { icon });
}

export function installedApp(row: InstalledRow): InstalledApp {
  return {
    appId: row.app_id,
    name: row.name,
    summary: row.summary,
    version: row.version,
    upgrade: newer(row.newest, row.version),
    // A version of the platform that knows no former versions may have changed the installed one.
    former: row.former !== null && semver.lt(row.former, row.version) ? row.former : null,
    publisher: row.system ? 'platform' : (row.publisher ?? 'a removed account'),
    icon: iconOf(row),
    chrome: row.chrome ?? 'auto',
    hasFrontend: row.chrome !== null,
    hasWorkload: row.has_workload,
    hasUnreviewedWorkload: row.has_unreviewed_workload,
    requestsIntelligence: row.requests_intelligence,
    searchesWeb: row.searches_web,
    home: row.home,
    system: row.system,
    builtIn: row.system && isPlatformAppId(row.app_id),
    installedAt: row.installed_at.toISOString(),
  };
}

/** The newest version when it is newer than the installed one, which may be a pre-release ahead of it. */
function newer(newest: string | null, installed: string): string | null {
  if (newest === null || newest === installed) return null;
  return semver.gt(newest, installed) ? newest : null;
}
