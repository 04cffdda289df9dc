// Promises of looking at stored packages: each kind of damage is named with the app that it is of, nothing is changed by looking,
// and a whole store has no fault.
import assert from 'node:assert/strict';
import { appendFile, mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { registerAccount, type TestAccount } from '../../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';
import { nodeWorkload, publish } from '../../../test-support/apps.ts';
import { frontendFolder, packageFile } from '../package-file.ts';
import { examinePackages } from './examine-packages.ts';

let platform: Constellation;
let account: TestAccount;
before(async () => {
  platform = await startConstellation();
  account = await registerAccount(platform, 'publisher');
});
after(() => platform.close());

const faults = async () =>
  (await examinePackages(platform.core.context)).faults.map(({ names, of, found }) => [names.join(), of, found]);

async function published(appId: string) {
  const icon = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8H0z"/></svg>';
  const { hash } = await publish(account, appId, { icon: 'icon.svg' }, { 'frontend/icon.svg': icon });
  const { context } = platform.core;
  return { hash, file: packageFile(context, hash), folder: frontendFolder(context, hash) };
}

test('a whole store has no fault, with drawn icons, backends alone and packages of former versions', async () => {
  const former = await published('former');
  await publish(account, 'backend', { frontend: undefined, workload: nodeWorkload });
  await platform.core.context.pool.query('UPDATE package_blobs SET frontend_digest = NULL WHERE hash = $1', [
    former.hash,
  ]);
  const done: number[] = [];
  const examined = await examinePackages(platform.core.context, (count) => done.push(count));
  assert.deepEqual([examined.faults, done], [[], [...Array(examined.packages).keys()]]);
  assert.ok(examined.packages >= 2);
  assert.ok(examined.bytes > 0);
  await appendFile(path.join(former.folder, 'index.html'), ' ');
  assert.deepEqual(await faults(), [['former 1.0.0', 'frontend', 'altered: it is not what was published']]);
  await rm(former.file);
  assert.deepEqual(await faults(), [
    ['former 1.0.0', 'package', 'missing'],
    ['former 1.0.0', 'frontend', 'not verifiable without its package'],
  ]);
  await platform.core.context.pool.query("DELETE FROM app_versions WHERE app_id = 'former'");
  await platform.core.context.pool.query('DELETE FROM package_blobs WHERE hash = $1', [former.hash]);
});

for (const [what, damage, expected] of [
  [
    'a byte of a package',
    async ({ file }: { file: string }) => {
      const bytes = await readFile(file);
      bytes[40] = (bytes[40] ?? 0) ^ 1;
      await writeFile(file, bytes);
    },
    [['package', /^altered: its hash is another one$/]],
  ],
  [
    'a package that was cut',
    ({ file }: { file: string }) => truncate(file, 100),
    [['package', /has 100 bytes instead of/]],
  ],
  ['a missing package', ({ file }: { file: string }) => rm(file), [['package', /^missing$/]]],
  [
    'a folder in the place of a package',
    async ({ file }: { file: string }) => {
      await rm(file);
      await mkdir(file);
    },
    [['package', /^unreadable/]],
  ],
  [
    'a missing frontend',
    ({ folder }: { folder: string }) => rm(folder, { recursive: true }),
    [['frontend', /^missing$/]],
  ],
  [
    'an altered frontend',
    ({ folder }: { folder: string }) => writeFile(path.join(folder, 'index.html'), 'evil'),
    [['frontend', /^altered/]],
  ],
] as const)
  test(`${what} is named`, async () => {
    const appId = what.replaceAll(' ', '-');
    const place = await published(appId);
    await damage(place);
    const found = await faults();
    const own = found.filter(([names]) => names === `${appId} 1.0.0`);
    assert.deepEqual(
      own.map(([, of]) => of),
      expected.map(([of]) => of),
    );
    for (const [at, [, words]] of expected.entries()) assert.match(String(own[at]?.[2]), words);
    const { pool } = platform.core.context;
    await pool.query('DELETE FROM app_versions WHERE app_id = $1', [appId]);
    await pool.query('DELETE FROM package_blobs WHERE hash = $1', [place.hash]);
    assert.deepEqual(await faults(), [], 'of what the database does not know nothing is said');
  });
