// The part of `platform doctor` for a machine on which nothing was started yet. It only looks: the data folder and the
// database are made by the first start.
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import * as path from 'node:path';
import type { PlatformConfig } from '@platform/core/config';
import { reasonOf, StartError, systemCode } from '@platform/core/start';
import { requireDisk } from '../disk/disk-notice.ts';
import { joinedAs } from '../members/membership.ts';
import type { Finding } from './finding.ts';

type Place = Pick<PlatformConfig, 'dataDirectory' | 'masterKeyFile' | 'databaseUrl'>;

/** Whether the folder holds nothing of a platform: neither its key nor its database, nor a membership of another one. */
export function isBeforeFirstStart({ dataDirectory, masterKeyFile }: Place): boolean {
  if (joinedAs(dataDirectory) !== null) return false;
  return !existsSync(masterKeyFile) && !existsSync(path.join(dataDirectory, 'postgres', 'data'));
}

export async function firstStartFindings(config: Place): Promise<Finding[]> {
  return [folderFinding(config), ...(config.databaseUrl === null ? spaceFindings(config) : [])];
}

function folderFinding({ dataDirectory: folder, databaseUrl }: Place): Finding {
  const check = 'data folder';
  const isThere = existsSync(folder);
  const existing = nearestFolder(folder);
  const bad = (found: string, cure: string): Finding => ({ check, verdict: 'bad', found, cure });
  const elsewhere = 'or set PLATFORM_DATA_DIR to another folder';
  try {
    if (!statSync(existing).isDirectory()) return bad(`${existing} is not a folder`, `Remove it, ${elsewhere}.`);
    accessSync(existing, constants.W_OK | constants.X_OK);
  } catch (error) {
    const what = isThere ? `${folder} cannot be written` : `${folder} cannot be made in ${existing}`;
    const cure =
      systemCode(error) === 'EACCES'
        ? `As root: install -d -o ${userInfo().username} -m 0700 '${folder}', ${elsewhere}.`
        : `Mount it writable, ${elsewhere}.`;
    return bad(`${what}: ${reasonOf(error)}`, cure);
  }
  const closed = process.getuid?.() === 0 && databaseUrl === null ? closedFolderAbove(folder) : undefined;
  if (closed !== undefined)
    return bad(
      `PostgreSQL runs as a user of its own, which cannot enter ${closed}`,
      `Allow it with chmod o+x '${closed}', ${elsewhere}.`,
    );
  return {
    check,
    verdict: 'good',
    found: isThere ? `${folder} holds no platform yet` : `${folder} does not exist; the first start makes it`,
  };
}

function nearestFolder(folder: string): string {
  return existsSync(folder) ? folder : nearestFolder(path.dirname(folder));
}

/** The first start opens the data folder itself, and makes those that are missing. */
function closedFolderAbove(folder: string): string | undefined {
  const above = path.dirname(folder);
  if (above === folder) return undefined;
  return closedFolderAbove(above) ?? (existsSync(above) && (statSync(above).mode & 0o001) === 0 ? above : undefined);
}

function spaceFindings({ dataDirectory }: Place): Finding[] {
  try {
    requireDisk(dataDirectory);
    return [];
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    return [{ check: 'disk', verdict: 'bad', found: error.message }];
  }
}
