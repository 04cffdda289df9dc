// `npm run statements`: runs the tests, and keeps every statement that core sent to PostgreSQL as the fixture against
// which later migrations are tried (packages/core/src/database/former-version.test.ts). Run it at a release, on the commit
// of the release. With test files named, it runs only those, and adds to the fixture of the same version.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PLATFORM_VERSION } from '@platform/core/start';
import { FOLDER_VARIABLE } from './preload.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const preload = fileURLToPath(new URL('./preload.ts', import.meta.url));
const FIXTURE = join(root, 'packages/core/src/database/former-version.json');
const tests = process.argv.slice(2);

const folder = mkdtempSync(join(tmpdir(), 'platform-statements-'));
// Some tests run core as another user.
chmodSync(folder, 0o1777);
try {
  const { status } = spawnSync(process.execPath, [join(root, 'scripts/test.mjs'), ...tests], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, NODE_OPTIONS: `--import=${preload}`, [FOLDER_VARIABLE]: folder },
  });
  if (status !== 0) throw new Error('The tests failed; the fixture stays as it was.');
  const lastMigration = readdirSync(join(root, 'packages/core/src/database/migrations')).sort().at(-1);
  const statements = oneOfEach([...(tests.length > 0 ? recorded(lastMigration) : []), ...sent()]);
  const fixture = { version: PLATFORM_VERSION, lastMigration, statements };
  writeFileSync(FIXTURE, `${JSON.stringify(fixture, null, 2)}\n`);
  console.log(`${statements.length} statements of version ${PLATFORM_VERSION} are in ${FIXTURE}.`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function sent(): string[] {
  const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), 'utf8').trimEnd().split('\n'));
  return lines.map((line): string => JSON.parse(line));
}

/** What the fixture holds of this version. */
function recorded(lastMigration: string | undefined): readonly string[] {
  const fixture: { version: string; lastMigration: string; statements: string[] } = JSON.parse(
    readFileSync(FIXTURE, 'utf8'),
  );
  return fixture.version === PLATFORM_VERSION && fixture.lastMigration === lastMigration ? fixture.statements : [];
}

/** Statements that can be prepared, sorted; of those that differ in the length of a list only the shortest. */
function oneOfEach(sent: readonly string[]): string[] {
  const shapes = new Map<string, string>();
  for (const text of sent) {
    const statement = text.trim().replaceAll(/\s+/g, ' ');
    if (!/^(select|insert|update|delete|with|merge|values|\()/i.test(statement)) continue;
    const shape = statement
      .replaceAll(/\$\d+/g, '?')
      .replaceAll(/\?(, \?)+/g, '?')
      .replaceAll(/\(\?\)(, \(\?\))+/g, '(?)');
    const known = shapes.get(shape);
    if (known === undefined || statement.length < known.length) shapes.set(shape, statement);
  }
  return [...shapes.values()].sort();
}
