// Every sample in what app authors and operators read is checked, whatever page it is on: JavaScript against the types of the
// SDK, Python, JSON and shell lines for their syntax, the platform's commands for their names and options, its variables by the
// platform itself.
import { strict as assert } from 'node:assert';
import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { manifest } from '@platform/contract';
import { readConfiguration } from '@platform/core/config';
import { withConnection } from '@platform/core/database';
import { writeDeclarations } from '@platform/sdk/pack';
import { commands } from '../../packages/cli/test-support/internals.ts';
import { lacksProgram } from '../support/lacks-program.ts';
import { testCluster } from '../support/postgres.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const PAGES = ['README.md', 'docs/**/*.md', 'packages/*/README.md', 'sdk-rust/README.md', 'examples/*/README.md']
  .flatMap((pattern) => globSync(pattern, { cwd: ROOT }))
  .sort();

interface Sample {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  readonly text: string;
}

const SAMPLES: readonly Sample[] = PAGES.flatMap((page) => {
  const text = readFileSync(path.join(ROOT, page), 'utf8');
  // In an item of a list a sample stands as far to the right as the item.
  return [...text.matchAll(/^( *)```(\w*)\n([\s\S]*?)^\1```$/gm)].map(
    ({ index, 1: indent = '', 2: language = '', 3: sample = '' }) => ({
      page,
      line: text.slice(0, index).split('\n').length + 1,
      language,
      text: sample.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );
});

/** Languages of samples that the tests of this file do not read, and what does. */
const READ_ELSEWHERE: Readonly<Record<string, string>> = {
  '': 'what programs print, and drawings',
  rust: 'sdk-rust/tests/documentation.rs',
  dockerfile: 'tests/docs/python.test.ts',
  yaml: 'tests/support/synapse.ts has the same settings',
};

const lines = (code: string) =>
  code
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');
const EXAMPLES = globSync('examples/**/*.{js,mjs,py}', { cwd: ROOT }).map((file) =>
  lines(readFileSync(path.join(ROOT, file), 'utf8')),
);

/** Lines of an example are part of a program that tests run. */
function isExcerpt({ text }: Sample): boolean {
  const shown = lines(text.replace(/^\/\/ examples\/.*\n/, ''));
  return EXAMPLES.some((example) => example.includes(shown));
}

const placeOf = ({ page, line }: Sample) => `${page}:${line}`;

function samplesIn(...languages: readonly string[]): readonly Sample[] {
  const found = SAMPLES.filter((sample) => languages.includes(sample.language) && !isExcerpt(sample));
  assert.ok(found.length > 0, `no page has a sample of ${languages}`);
  return found;
}

/** What the pages use without saying each time where it comes from. */
const PRELUDE = `
import type * as backendSide from '@platform/sdk';
import type * as pageSide from '@platform/sdk/browser';
declare global {
  const platform: backendSide.PlatformServicesClient;
  const flow: backendSide.Flow;
  const app: pageSide.App;
  const inbox: pageSide.NotificationsService;
}
`;

/** What is special to a sample, such as the clients of others and the functions of the reader's own app, is anything. */
function moduleOf({ text }: Sample, unknown: readonly string[]): string {
  const imports: string[] = [];
  const body = text.replaceAll(/^import [^;]*;.*$/gm, (line) => {
    imports.push(
      line
        .replaceAll(/'\.\/platform-sdk\.mjs'/g, "'@platform/sdk'")
        .replaceAll(/'\.\/platform-sdk\.js'/g, "'@platform/sdk/browser'"),
    );
    return '';
  });
  const known = unknown.map((name) => `declare const ${name}: any;`);
  return [...imports, ...known, 'export async function sample() {', body, '}', ''].join('\n');
}

/** Packages of others have types of their own, which are not ours to keep. */
function othersOf(samples: readonly Sample[]): string {
  const imported = samples.flatMap(({ text }) =>
    [...text.matchAll(/^import .* from '([^.'][^']*)';/gm)].map(([, name]) => name),
  );
  const others = new Set(imported.filter((name) => name?.startsWith('@platform/') === false));
  return [...others].map((name) => `declare module '${name}';\n`).join('');
}

interface Fault {
  readonly file: string;
  readonly code: string;
  readonly words: string;
}

async function compile(folder: string): Promise<readonly Fault[]> {
  const compiler = path.join(path.dirname(fileURLToPath(import.meta.resolve('typescript/package.json'))), 'bin/tsc');
  const said = await promisify(execFile)(process.execPath, [compiler, '--project', folder, '--pretty', 'false']).then(
    () => '',
    (error: { readonly stdout?: string }) => error.stdout ?? '',
  );
  return [...said.matchAll(/^(?:.*\/)?([^/\n]+)\(\d+,\d+\): error (TS\d+): (.*)$/gm)].map(
    ([, file = '', code = '', words = '']) => ({ file, code, words }),
  );
}

/** A name that nothing declares, and a package that is not installed. */
const UNDECLARED = /^(?:Cannot find name|No value exists in scope for the shorthand property) '([\w$]+)'/;

test('every sample in JavaScript fits the SDK', { timeout: 300_000 }, async (t) => {
  const samples = samplesIn('js', 'ts');
  const folder = await mkdtemp(path.join(tmpdir(), 'samples-'));
  t.after(() => rm(folder, { recursive: true }));
  // As authors get them.
  const sdk = path.join(folder, 'sdk');
  await writeDeclarations(sdk, ['workload', 'browser']);
  const config = {
    extends: path.join(ROOT, 'tsconfig.json'),
    compilerOptions: {
      noEmit: true,
      // As it is read: without types of its own, and one part of a program.
      strict: false,
      exactOptionalPropertyTypes: false,
      noUnusedLocals: false,
      noUnusedParameters: false,
      noImplicitReturns: false,
      typeRoots: [path.join(ROOT, 'node_modules/@types')],
      paths: {
        '@platform/sdk': [path.join(sdk, 'workload.d.ts')],
        '@platform/sdk/browser': [path.join(sdk, 'browser.d.ts')],
      },
    },
    include: ['*.mts', 'others.d.ts'],
  };
  await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify(config));
  await writeFile(path.join(folder, 'prelude.mts'), PRELUDE);
  await writeFile(path.join(folder, 'others.d.ts'), othersOf(samples));
  const nameOf = (index: number) => `sample-${index}.mts`;
  const write = (unknown: ReadonlyMap<string, readonly string[]>) =>
    Promise.all(
      samples.map((sample, index) =>
        writeFile(path.join(folder, nameOf(index)), moduleOf(sample, unknown.get(nameOf(index)) ?? [])),
      ),
    );
  await write(new Map());
  const unknown = new Map<string, string[]>();
  for (const { file, words } of await compile(folder)) {
    const [, name] = UNDECLARED.exec(words) ?? [];
    if (name !== undefined) unknown.set(file, [...new Set([...(unknown.get(file) ?? []), name])]);
  }
  await write(unknown);
  const faults = (await compile(folder)).map(({ file, words }) => {
    const sample = samples[Number(/\d+/.exec(file)?.[0])];
    return `${sample === undefined ? file : placeOf(sample)} ${words}`;
  });
  assert.deepEqual(faults, []);
});

test('no sample waits for the workflows that it resumes: one may wait for days', () => {
  const resuming = samplesIn('js', 'ts').filter(({ text }) => text.includes('resumeWorkflows('));
  assert.ok(resuming.length >= 3);
  for (const sample of resuming) assert.doesNotMatch(sample.text, /await \w+\.resumeWorkflows/, placeOf(sample));
});

test('every sample in JSON is JSON, and what is of a manifest has its members', () => {
  for (const sample of samplesIn('json')) {
    const text = sample.text.trim();
    const whole = text.startsWith('{') || text.startsWith('[') ? text : `{${text.replace(/,$/, '')}}`;
    const value = JSON.parse(whole) as Readonly<Record<string, unknown>>;
    const members = Object.keys(value).filter((name) => name !== '$schema');
    if (!members.every((name) => Object.hasOwn(manifest.shape, name))) continue;
    for (const name of members) {
      const shape = manifest.shape[name as keyof typeof manifest.shape];
      assert.ok(shape.safeParse(value[name]).success, `${placeOf(sample)} ${name}`);
    }
  }
});

test('every sample in Python is Python', { skip: lacksProgram('python3') }, () => {
  for (const sample of samplesIn('python')) {
    const program = 'import sys, textwrap; compile(textwrap.dedent(sys.stdin.read()), "sample", "exec", flags=0x2000)';
    assert.doesNotThrow(
      () => execFileSync('python3', ['-c', program], { input: sample.text, stdio: 'pipe' }),
      placeOf(sample),
    );
  }
});

test('every sample in TOML is TOML', { skip: lacksProgram('python3') }, () => {
  for (const sample of samplesIn('toml')) {
    const program = 'import sys, tomllib; tomllib.loads(sys.stdin.read())';
    const read = () => execFileSync('python3', ['-c', program], { input: sample.text, stdio: 'pipe' });
    assert.doesNotThrow(read, placeOf(sample));
  }
});

test('PostgreSQL carries out every sample in SQL', async () => {
  const cluster = await testCluster();
  for (const { text } of samplesIn('sql')) {
    const name = `sample_${randomBytes(8).toString('hex')}`;
    await withConnection({ connectionString: cluster }, async (client) => {
      // A database is made outside of a transaction, so each statement goes alone.
      for (const statement of text.split(';\n')) await client.query(statement.replaceAll('synapse', name));
      await client.query(`DROP DATABASE ${name}`);
      await client.query(`DROP ROLE ${name}`);
    });
  }
});

test('a shell reads every sample of one', () => {
  for (const sample of samplesIn('sh')) {
    // Words in angle brackets are for the reader to fill in.
    const text = sample.text.replaceAll(/<[a-z][\w -|]*>/g, 'word');
    assert.doesNotThrow(() => execFileSync('sh', ['-n'], { input: text, stdio: 'pipe' }), placeOf(sample));
  }
});

/** Assignments of a sample as a shell understands them. */
function assignedIn({ text }: Sample): Readonly<Record<string, string>> {
  const assignments = text.split('\n').filter((line) => /^PLATFORM_[A-Z0-9_]+=/.test(line));
  if (assignments.length === 0) return {};
  const names = assignments.map((line) => line.slice(0, line.indexOf('=')));
  const print = names.map((name) => `printf '%s\\n' "$${name}"`);
  const values = execFileSync('sh', ['-c', [...assignments, ...print].join('\n')], { encoding: 'utf8', env: {} });
  return Object.fromEntries(
    values
      .split('\n')
      .map((value, place) => [names[place] ?? '', value])
      .filter(([name]) => name !== ''),
  );
}

/** As docs/operators.md sets up a server. */
const SERVER = {
  PLATFORM_OS_ORIGIN: 'https://cloud.example.org',
  PLATFORM_APPS_DOMAIN: 'example-apps.net',
  PLATFORM_NODE_ORIGIN: 'https://node.example-nodes.net',
  PLATFORM_INGRESS_DOMAIN: 'example-public.net',
  PLATFORM_TRUSTED_PROXIES: '127.0.0.1',
};

function problemOf(environment: Readonly<Record<string, string>>): string | null {
  try {
    readConfiguration(environment, { isRoot: true, home: '/root' });
    return null;
  } catch (error) {
    return String(error);
  }
}

test('the platform takes the settings of every sample', async (t) => {
  const etc = await mkdtemp(path.join(tmpdir(), 'samples-'));
  t.after(() => rm(etc, { recursive: true }));
  const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' };
  await writeFile(path.join(etc, 'object-store.json'), JSON.stringify(credentials), { mode: 0o600 });
  const inFolder = (settings: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, value.replace('/etc/platform', etc)]));
  let found = 0;
  const samples = samplesIn('sh');
  for (const sample of samples) {
    const settings = assignedIn(sample);
    if (Object.keys(settings).length === 0) continue;
    found += 1;
    // What a sample needs may stand in another one of its page.
    const beside = samples.filter(({ page }) => page === sample.page).map(assignedIn);
    const problems = [{}, ...beside].map((other) => problemOf(inFolder({ ...SERVER, ...other, ...settings })));
    assert.ok(problems.includes(null), `${placeOf(sample)}: ${problems[0]}`);
  }
  assert.ok(found >= 8, `${found} samples with settings`);
});

test('every language of a sample is one that a test reads', () => {
  const here = ['js', 'ts', 'json', 'python', 'sh', 'toml', 'sql'];
  const unread = SAMPLES.filter(({ language }) => !here.includes(language) && READ_ELSEWHERE[language] === undefined);
  assert.deepEqual(unread.map(placeOf), []);
});

test('every command of the platform that a page names exists, with the options that it has there', async () => {
  let found = 0;
  for (const page of PAGES) {
    const text = readFileSync(path.join(ROOT, page), 'utf8');
    for (const [, line = ''] of text.matchAll(/\.\/platform +([a-z][^`\n#|)]*)/g)) {
      const [name = '', ...words] = line.trim().split(/[\s,;.:]+/);
      const where = `${page}: ./platform ${line.trim()}`;
      assert.ok(Object.hasOwn(commands, name), where);
      const { usage } = await commands[name as keyof typeof commands]();
      for (const [, option = ''] of words.join(' ').matchAll(/(?:^| )\[?(--?[a-z][a-z-]*)/g)) {
        assert.ok(new RegExp(`(^|[^\\w-])${option}($|[^\\w-])`).test(usage), `${where}: ${option} is not in its usage`);
        found += 1;
      }
    }
  }
  assert.ok(found > 0);
});
