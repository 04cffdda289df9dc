// Other durable execution on PostgreSQL, each in a process of its own. They are no dependencies of this project: the bench
// installs them once, into the user's cache folder.
import { execFile } from 'node:child_process';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Program, type RunsOrder, startProgram } from './programs.ts';

const DBOS = '5.3.0';
const GRAPHILE_WORKER = '0.18.0';
const PACKAGES = {
  private: true,
  dependencies: { '@dbos-inc/dbos-sdk': DBOS, 'graphile-worker': GRAPHILE_WORKER },
};
const INSTALL_MS = 900_000;

export interface Peer {
  readonly name: string;
  readonly program: Program<RunsOrder, number>;
}

/** @param databaseUrl an empty database of its own */
export async function startDbos(databaseUrl: string): Promise<Peer> {
  return { name: `DBOS Transact ${DBOS}`, program: await startProgram('./dbos.ts', [await installed(), databaseUrl]) };
}

/** @param databaseUrl an empty database of its own */
export async function startGraphileWorker(databaseUrl: string): Promise<Peer> {
  const program = await startProgram<RunsOrder, number>('./graphile-worker.ts', [await installed(), databaseUrl]);
  return { name: `graphile-worker ${GRAPHILE_WORKER}`, program };
}

/** The `package.json` beside which they are. */
async function installed(): Promise<string> {
  const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'platform-bench', 'workflows');
  const file = join(folder, 'package.json');
  const isThere = await access(join(folder, 'node_modules/@dbos-inc/dbos-sdk')).then(
    () => true,
    () => false,
  );
  if (isThere) return file;
  await mkdir(folder, { recursive: true });
  await writeFile(file, JSON.stringify(PACKAGES));
  await promisify(execFile)('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    timeout: INSTALL_MS,
  });
  return file;
}
