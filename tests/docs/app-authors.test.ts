// docs/app-authors.md says what the code does: every member of the manifest, every manifest it shows, every name of the SDK.
import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { before, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { planPackage, SDK_NAMES } from '@platform/cli/packaging';
import { agentManifest, manifest } from '@platform/contract';
import * as z from 'zod';
import { blocksOf } from '../support/documented.ts';

const ROOT = path.join(import.meta.dirname, '../..');

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

let text = '';
before(async () => {
  text = await readFile(path.join(ROOT, 'docs/app-authors.md'), 'utf8');
});

function members(schema: Schema, parent: string): string[] {
  if (schema.items !== undefined) return members(schema.items, `${parent}[]`);
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const own = parent === '' ? name : `${parent}.${name}`;
    return [own, ...members(member, own)];
  });
}

function section(title: string): string {
  const [, rest = ''] = text.split(`\n## ${title}\n`);
  return rest.split('\n## ', 1)[0] ?? '';
}

test('the table of the manifest names every member of the schema, in its order, and no other', () => {
  const schema = z.toJSONSchema(manifest, { io: 'input', unrepresentable: 'any' }) as Schema;
  const documented = [...section('The manifest').matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name);
  assert.deepEqual(documented, members(schema, ''));
});

async function scratch(t: TestContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'docs-'));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

for (const file of ['docs/app-authors.md', 'README.md']) {
  test(`the first app of ${file} is a package when one types what is there`, async (t) => {
    const folder = await scratch(t);
    const page = await readFile(path.join(ROOT, file), 'utf8');
    const [, lines = ''] = /```sh\n(mkdir -p hello[\s\S]*?)```/.exec(page) ?? [];
    const typed = lines.split('\n').filter((line) => !line.startsWith('./platform '));
    await promisify(execFile)('sh', ['-eu', '-c', typed.join('\n')], { cwd: folder });
    const plan = await planPackage({ folder: path.join(folder, 'hello') });
    assert.deepEqual(
      plan.files.map(({ name }) => name),
      ['manifest.json', 'frontend/index.html'],
    );
  });
}

test('the project that the page begins with is a package when one types what is there, and answers its questions', async (t) => {
  const folder = await scratch(t);
  const [lines = ''] = blocksOf('docs/app-authors.md', 'sh', '## Begin with `platform init`');
  const [init = '', dev = '', publish = ''] = lines.split('\n').map((line) => line.replace(/ *# .*$/, ''));
  const main = path.join(ROOT, 'packages/cli/src/main.ts');
  const typed = `${init.replace('./platform', `"$NODE" "${main}"`)} --kind both --language javascript`;
  await promisify(execFile)('sh', ['-eu', '-c', typed], {
    cwd: folder,
    env: { ...process.env, NODE: process.execPath },
  });
  const plan = await planPackage({ folder: path.join(folder, 'counter') });
  assert.equal(plan.manifest.name, 'Counter');
  assert.deepEqual([dev, publish], ['./platform dev counter', './platform publish counter']);
});

test('both first apps are typed alike: a story types the one of README.md', () => {
  const [first, second] = ['docs/app-authors.md', 'README.md'].map((file) =>
    blocksOf(file, 'sh', '## A first app, in ten lines').map((block) => block.replaceAll(/ *# .*$/gm, '')),
  );
  assert.deepEqual(first, second);
});

test('the names under which the SDK is imported are those it is packed under', () => {
  for (const name of Object.values(SDK_NAMES)) assert.ok(text.includes(`'./${path.basename(name)}'`), name);
});

test('defaults in the table are those of the schema', () => {
  const { frontend, workload } = manifest.parse({
    schemaVersion: 9,
    id: 'defaults',
    version: '1.0.0',
    name: 'D',
    summary: 'D',
    frontend: {},
    workload: { runtime: 'node', entry: 'a.mjs' },
  });
  const { webSearch, maxToolCalls } = agentManifest.parse({ instructions: 'a.md' });
  const expected: Record<string, unknown> = {
    'workload.agent.webSearch': webSearch,
    'workload.agent.maxToolCalls': maxToolCalls,
    'frontend.entry': frontend?.entry,
    'frontend.chrome': frontend?.chrome,
    'workload.port': workload?.port,
    'workload.mode': workload?.mode,
    'workload.idleSeconds': workload?.idleSeconds,
    'workload.resources.memoryMiB': workload?.resources.memoryMiB,
    'workload.resources.cpus': workload?.resources.cpus,
    'workload.resources.pids': workload?.resources.pids,
    'workload.resources.diskMiB': workload?.resources.diskMiB,
    'workload.volume': workload?.volume,
  };
  const rows = [...section('The manifest').matchAll(/^\| `([^`]+)` \| .*default `?([^`|]+?)`? \|$/gm)];
  const documented = Object.fromEntries(rows.map(([, name, value]) => [name, value?.replace(',', '')]));
  assert.deepEqual(
    documented,
    Object.fromEntries(Object.entries(expected).map(([name, value]) => [name, String(value)])),
  );
});
