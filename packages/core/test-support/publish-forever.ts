// A program for src/catalog/versions/crash.test.ts: publishes versions, prints each that is acknowledged, and is killed.
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { limits } from '@platform/contract';
import { publishPackage } from '../src/catalog/versions/publish-package.ts';
import { openDatabase } from '../src/database/open-database.ts';
import { archiveOf } from './vector-archives.ts';

const OWNER = 'acct-crash';

/** Enough files that a kill often falls between two of them. */
export function frontendFiles(version: string): Record<string, string> {
  const files = Array.from({ length: 20 }, (_, index) => [
    `frontend/folder-${index % 3}/${index}.txt`,
    `${version} ${index}`,
  ]);
  return Object.fromEntries([...files, ['frontend/index.html', `${version} `.repeat(5_000)]]);
}

async function uploadOf(version: string): Promise<Buffer> {
  const manifest = {
    schemaVersion: 9,
    id: 'crash-app',
    version,
    name: 'Crash',
    summary: 'Published while its publisher is killed.',
    frontend: { entry: 'index.html' },
  };
  const files = { 'manifest.json': JSON.stringify(manifest), ...frontendFiles(version) };
  return archiveOf({ entries: Object.entries(files).map(([name, content]) => ({ name, type: 'file', content })) });
}

async function main(url: string, packagesDirectory: string, round: string): Promise<never> {
  const named = new URL(url);
  named.searchParams.set('application_name', 'publish-forever');
  const { pool, database } = openDatabase({ url: named.href, onError: () => undefined });
  await pool.query('INSERT INTO accounts VALUES ($1, $2, now()) ON CONFLICT DO NOTHING', [OWNER, 'crash']);
  const context = {
    config: { packagesDirectory, accountDiskBytes: limits.accountDisk.value },
    database,
    pool,
    clock: () => new Date(),
  };
  for (let index = 0; ; index += 1) {
    const version = `${round}.${index}.0`;
    const source = Readable.from([await uploadOf(version)]);
    await publishPackage(context, { appId: 'crash-app', version, publisher: OWNER, source });
    process.stdout.write(`${version}\n`);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [url = '', directory = '', round = ''] = process.argv.slice(2);
  await main(url, directory, round);
}
