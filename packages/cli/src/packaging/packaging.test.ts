// Promises of the packer: the same folder gives the same bytes, and what cannot be a package is said in full.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { PackageProblem } from './package-problem.ts';
import { type PlanOptions, planPackage } from './plan-package.ts';
import { readPackagedManifest } from './read-packaged-manifest.ts';
import { writePackage } from './write-package.ts';

const MANIFEST = {
  schemaVersion: 9,
  id: 'sample',
  version: '1.2.3',
  name: 'Sample',
  summary: 'A package for tests',
  icon: 'icon.svg',
  frontend: { entry: 'index.html' },
  workload: { runtime: 'node', entry: 'server.mjs' },
};
const FILES = {
  'manifest.json': JSON.stringify(MANIFEST),
  'frontend/index.html': '<!doctype html>',
  'frontend/icon.svg': '<svg/>',
  'workload/server.mjs': 'export {};',
  'workload/lib/a.mjs': 'export const a = 1;',
};

async function folderOf(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'packaging-'));
  t.after(() => rm(folder, { recursive: true }));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  return folder;
}

async function packed(options: PlanOptions) {
  return writePackage(await planPackage(options), join(options.folder, 'out.tgz'));
}

async function contentOf(path: string): Promise<Record<string, string>> {
  const content: Record<string, string> = {};
  const archive = createReadStream(path).pipe(createGunzip()).pipe(extract());
  for await (const entry of archive) {
    assert.equal(entry.header.type, 'file');
    assert.equal(entry.header.mtime?.getTime(), 0);
    const chunks: Buffer[] = [];
    for await (const chunk of entry) chunks.push(Buffer.from(chunk as Uint8Array));
    content[entry.header.name] = Buffer.concat(chunks).toString();
  }
  return content;
}

async function problemsOf(options: PlanOptions): Promise<readonly string[]> {
  try {
    await planPackage(options);
  } catch (error) {
    assert.ok(error instanceof PackageProblem, String(error));
    return error.problems;
  }
  assert.fail('the folder was accepted');
}

test('a package holds the manifest first and every file of its parts, and nothing else', async (t) => {
  const folder = await folderOf(t, { ...FILES, 'README.md': 'read me', '.git/config': 'x' });
  const plan = await planPackage({ folder });
  assert.deepEqual(plan.leftOut, ['README.md']);
  const content = await contentOf((await packed({ folder })).path);
  assert.deepEqual(content, FILES);
  assert.equal(Object.keys(content)[0], 'manifest.json');
});

test('the same files give the same bytes, whenever and in whatever order they were written', async (t) => {
  const one = await folderOf(t, FILES);
  const other = await folderOf(t, Object.fromEntries(Object.entries(FILES).reverse()));
  await utimes(join(other, 'frontend/index.html'), 1, 1);
  assert.equal((await packed({ folder: one })).hash, (await packed({ folder: other })).hash);
});

test('a long path survives', async (t) => {
  const name = `frontend/${'long-folder-name/'.repeat(15)}file.txt`;
  const folder = await folderOf(t, { ...FILES, [name]: 'deep' });
  assert.equal((await contentOf((await packed({ folder })).path))[name], 'deep');
});

test('a package that tar made of "." is known by its manifest', async (t) => {
  const folder = await folderOf(t, FILES);
  const file = join(await folderOf(t, {}), 'app.tgz');
  execFileSync('tar', ['-czf', file, '-C', folder, '.']);
  const { id, version } = await readPackagedManifest(file);
  assert.deepEqual({ id, version }, { id: 'sample', version: '1.2.3' });
});

test('another version replaces the one of the manifest inside the package only', async (t) => {
  const folder = await folderOf(t, FILES);
  const content = await contentOf((await packed({ folder, change: { version: '1.2.3-dev.4' } })).path);
  assert.deepEqual(JSON.parse(content['manifest.json'] ?? ''), { ...MANIFEST, version: '1.2.3-dev.4' });
});

test('the SDK is added under its names, and a file of the package wins over it', async (t) => {
  const folder = await folderOf(t, { ...FILES, 'workload/platform-sdk.mjs': 'mine' });
  const other = await folderOf(t, { 'browser.js': 'sdk browser', 'workload.js': 'sdk workload' });
  const sdk = { browser: join(other, 'browser.js'), workload: join(other, 'workload.js') };
  const content = await contentOf((await packed({ folder, sdk })).path);
  assert.equal(content['frontend/platform-sdk.js'], 'sdk browser');
  assert.equal(content['workload/platform-sdk.mjs'], 'mine');
});

test('links and hidden files are refused, each by its name', async (t) => {
  const folder = await folderOf(t, { ...FILES, 'frontend/.env': 'SECRET=1' });
  await symlink('/etc/passwd', join(folder, 'workload/lib/link'));
  const problems = await problemsOf({ folder });
  assert.equal(problems.length, 2);
  assert.match(problems[0] ?? '', /^frontend\/\.env is hidden/);
  assert.match(problems[1] ?? '', /^workload\/lib\/link is a link/);
});

const litterFile = new URL('../../test-vectors/cli-litter.json', import.meta.url);

test('what other programs leave in the parts is left out and named; other hidden files are still refused', async (t) => {
  const vector: { files: string[] } = JSON.parse(await readFile(litterFile, 'utf8'));
  const more = [
    ...[
      'frontend/a/Thumbs.db',
      'frontend/DESKTOP.INI',
      'frontend/__MACOSX/b',
      'frontend/a/.index.html.swp',
      'frontend/.#x',
    ],
    ...[
      'workload/.DS_Store',
      'workload/lib/._a.mjs',
      'workload/lib/.gitkeep',
      'workload/Thumbs.db',
      'workload/.vite/deps/c.js',
    ],
  ];
  const files = Object.fromEntries([...vector.files, ...more].map((name) => [name, 'x']));
  const folder = await folderOf(t, { ...FILES, ...files, 'Thumbs.db': 'x', '.DS_Store': 'x', 'README.md': 'x' });
  await symlink('nowhere', join(folder, 'frontend/._link'));
  const plan = await planPackage({ folder });
  assert.deepEqual(plan.files.map(({ name }) => name).sort(), Object.keys(FILES).sort());
  assert.deepEqual(plan.leftOut, ['README.md']);
  const named = [...vector.files, ...more, 'frontend/._link'].map((name) =>
    name.replace(/(?<=\/(?:\.vite|__MACOSX)\/).*/, ''),
  );
  assert.deepEqual(plan.litter, named.sort());
  const other = await folderOf(t, {
    ...FILES,
    'frontend/.htaccess': 'x',
    'frontend/.vite-env': 'x',
    'workload/.DS_Store2': 'x',
  });
  assert.equal((await problemsOf({ folder: other })).length, 3);
  const icons = await folderOf(t, { ...FILES, 'frontend/thumbs.db.png': 'x', 'frontend/keep': 'x' });
  assert.deepEqual((await planPackage({ folder: icons })).litter, []);
});

test('what npm keeps for itself in node_modules is left out', async (t) => {
  const folder = await folderOf(t, { ...FILES, 'workload/node_modules/dep/index.js': 'x' });
  await mkdir(join(folder, 'workload/node_modules/.bin'));
  await symlink('../dep/index.js', join(folder, 'workload/node_modules/.bin/dep'));
  const names = (await planPackage({ folder })).files.map((file) => file.name);
  assert.ok(names.includes('workload/node_modules/dep/index.js'));
  assert.ok(!names.some((name) => name.includes('.bin')));
});

test('the archive of an image must be there, one in a registry need not', async (t) => {
  const { 'manifest.json': text, ...rest } = FILES;
  const withImage = (image: string) =>
    folderOf(t, {
      ...rest,
      'manifest.json': JSON.stringify({ ...JSON.parse(text), workload: { runtime: 'oci', image } }),
    });
  assert.deepEqual(await problemsOf({ folder: await withImage('image.tar') }), [
    'manifest.json: workload.image names workload/image.tar, which is not there.',
  ]);
  await planPackage({ folder: await withImage(`registry.example/app@sha256:${'0'.repeat(64)}`) });
});

test('an entry that is not there is named with the member that names it', async (t) => {
  const { 'frontend/icon.svg': _icon, 'workload/server.mjs': _server, ...rest } = FILES;
  const problems = await problemsOf({ folder: await folderOf(t, rest) });
  assert.deepEqual(problems, [
    'manifest.json: icon names frontend/icon.svg, which is not there.',
    'manifest.json: workload.entry names workload/server.mjs, which is not there.',
  ]);
});

test('every error of the manifest is reported with the path of the member', async (t) => {
  const wrong = {
    ...MANIFEST,
    summary: undefined,
    version: '1',
    permissions: [{ id: 'notifications.publish', resources: [] }],
    extra: 1,
  };
  const problems = await problemsOf({
    folder: await folderOf(t, { ...FILES, 'manifest.json': JSON.stringify(wrong) }),
  });
  assert.ok(
    problems.some((line) => /^manifest\.json: `version` must be a semantic version/.test(line)),
    problems.join(),
  );
  assert.ok(
    problems.some((line) => /^manifest\.json: `permissions\[0\]\.resources` must not be empty/.test(line)),
    problems.join(),
  );
  assert.ok(problems.includes('manifest.json: `summary` is missing.'), problems.join());
  assert.ok(
    problems.some((line) => /extra/.test(line)),
    problems.join(),
  );
});

for (const [what, content, expected] of [
  ['no JSON', '{', /^manifest\.json is not valid JSON: /],
  ['a list', '[]', /^manifest\.json must hold one object\.$/],
] as const) {
  test(`a manifest that is ${what} is one clear line`, async (t) => {
    const problems = await problemsOf({ folder: await folderOf(t, { ...FILES, 'manifest.json': content }) });
    assert.equal(problems.length, 1);
    assert.match(problems[0] ?? '', expected);
  });
}

test('a folder without a manifest is one clear line', async (t) => {
  const problems = await problemsOf({ folder: await folderOf(t, {}) });
  assert.match(problems[0] ?? '', /manifest\.json is missing: every package has a manifest\.$/);
});

test('a file that changes while it is packed leaves no package behind', async (t) => {
  const folder = await folderOf(t, FILES);
  const plan = await planPackage({ folder });
  await appendFile(join(folder, 'workload/server.mjs'), 'more');
  const path = join(folder, 'out.tgz');
  await assert.rejects(writePackage(plan, path), /workload\/server\.mjs changed during packing/);
  assert.deepEqual((await readdir(folder)).sort(), ['frontend', 'manifest.json', 'workload']);
});

for (const [what, instructions, fault] of [
  ['are missing', undefined, 'which is not there'],
  ['are too long', 'a'.repeat(64 * 1024 + 1), 'which has more than 64 KiB'],
  ['are empty', ' \n', 'which is empty'],
] as const)
  test(`instructions of an agent that ${what} are named`, async (t) => {
    const workload = { runtime: 'agent', agent: { instructions: 'rules.md' } };
    const permissions = [{ id: 'intelligence.use', resources: ['*'] }];
    const folder = await folderOf(t, {
      'manifest.json': JSON.stringify({ ...MANIFEST, workload, permissions }),
      'frontend/index.html': '<!doctype html>',
      'frontend/icon.svg': '<svg/>',
      'workload/other.md': 'x',
      ...(instructions === undefined ? {} : { 'workload/rules.md': instructions }),
    });
    await assert.rejects(planPackage({ folder }), (error) => {
      assert.ok(error instanceof PackageProblem);
      assert.match(error.message, new RegExp(`workload\\.agent\\.instructions names workload/rules\\.md, ${fault}`));
      return true;
    });
  });

test('instructions of an agent that are no UTF-8 are named', async (t) => {
  const workload = { runtime: 'agent', agent: { instructions: 'rules.md' } };
  const folder = await folderOf(t, {
    ...FILES,
    'manifest.json': JSON.stringify({
      ...MANIFEST,
      workload,
      permissions: [{ id: 'intelligence.use', resources: ['*'] }],
    }),
  });
  await writeFile(join(folder, 'workload/rules.md'), Buffer.from([0xff, 0xfe, 0x41]));
  await assert.rejects(planPackage({ folder }), /which is no text in UTF-8/);
});
