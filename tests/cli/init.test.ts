// A new project of `platform init`, of every kind and in both languages: it runs and is published as it is.
import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { manifest } from '@platform/contract';
import { manifestSchema } from '@platform/contract/manifest-schema';
import { Command } from '../support/cli-command.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { installFromCheckout } from '../support/new-project.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const KINDS = ['frontend', 'backend', 'both'] as const;
const LANGUAGES = ['javascript', 'typescript'] as const;
type Kind = (typeof KINDS)[number];
type Language = (typeof LANGUAGES)[number];
const run = promisify(execFile);

let place: PlatformPlace;
let platform: PlatformProcess;
let anna: TestAccount;
let folder = '';

before(async () => {
  place = await platformPlace({ PLATFORM_RUNTIME_DRIVER: 'process' });
  platform = await startPlatform(place);
  anna = await registerAccount(platform, 'anna');
  folder = await mkdtemp(path.join(tmpdir(), 'new-projects-'));
});
after(async () => {
  await platform?.stop();
  await place?.remove();
  await rm(folder, { recursive: true, force: true });
});

function init(...args: string[]): Promise<{ code: number | null; said: string }> {
  return new Command(['init', ...args], { environment: place.environment, cwd: folder }).ends();
}

interface Made {
  readonly project: string;
  readonly said: string;
}

async function make(name: string, ...args: string[]): Promise<Made> {
  const { code, said } = await init(name, ...args);
  assert.equal(code, 0, said);
  return { project: path.join(folder, name), said };
}

const projects = new Map<string, Promise<Made>>();

/** Made once: packing the SDK takes a while. */
function made(kind: Kind, language: Language): Promise<Made> {
  const id = `${kind}-in-${language}`;
  const known = projects.get(id);
  if (known !== undefined) return known;
  const making = make(id, '--kind', kind, '--language', language).then(async (one) => {
    if (language === 'typescript') await installFromCheckout(one.project);
    return one;
  });
  projects.set(id, making);
  return making;
}

/** The lines that the command prints for the author to type. */
function printedCommands(said: string): string[] {
  const [, lines = ''] = said.split('\nNext:\n');
  return lines
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().replace(/ {2}# .*$/, ''));
}

async function typed(lines: readonly string[], cwd = folder): Promise<string> {
  const { stdout } = await run('sh', ['-eu', '-c', lines.join('\n')], { cwd, env: place.environment });
  return stdout;
}

async function tryOut(t: TestContext, project: string, kind: Kind): Promise<void> {
  const dev = new Command(['dev', project], { environment: place.environment });
  t.after(() => dev.child.kill('SIGKILL'));
  await dev.hears(/\(dev\) 1\.0\.0-dev\.\d+ runs for anna/);
  // One that has a page waits for it.
  if (kind === 'backend') await dev.hears(/Listening on port 8080\./);
  dev.child.kill('SIGINT');
  assert.equal((await dev.ends()).code, 0);
}

for (const language of LANGUAGES) {
  for (const kind of KINDS) {
    test(`${kind} in ${language}: runs with dev and is published by the commands that init prints`, async (t) => {
      const id = `${kind}-in-${language}`;
      const { project, said } = await made(kind, language);
      const [first = '', second = '', third = ''] = printedCommands(said);
      assert.equal(first, language === 'typescript' ? `cd ${id} && npm install` : `cd ${id}`);
      assert.equal(second, `${path.join(ROOT, 'platform')} dev`);
      await tryOut(t, project, kind);
      assert.match(await typed([third], project), / 1\.0\.0 is in the Store, by anna\./);
      const { versions } = await anna.browser.take<{ versions: object[] }>(`/v1/catalog/${id}`);
      assert.equal(versions.length, 1);
      const own = manifest.parse(JSON.parse(await readFile(path.join(project, 'manifest.json'), 'utf8')));
      const name = `${kind === 'both' ? 'Both' : kind === 'backend' ? 'Backend' : 'Frontend'} in ${language}`;
      assert.deepEqual([own.id, own.name], [id, name]);
      assert.deepEqual(
        [own.frontend !== undefined, own.workload !== undefined],
        [kind !== 'backend', kind !== 'frontend'],
      );
    });
  }
}

test('editors find the schema of the manifest beside it', async () => {
  const { project } = await made('frontend', 'javascript');
  const { $schema } = JSON.parse(await readFile(path.join(project, 'manifest.json'), 'utf8'));
  const schema = await readFile(path.join(project, $schema), 'utf8');
  assert.deepEqual(JSON.parse(schema), manifestSchema());
});

test('after an update of the platform, `sdk` writes the schema anew and, in plain JavaScript, the types', async () => {
  const { project } = await made('frontend', 'javascript');
  const types = path.join(project, 'types/sdk/browser.d.ts');
  const former = await readFile(types, 'utf8');
  await writeFile(types, 'export {};');
  await writeFile(path.join(project, 'manifest.schema.json'), '{}');
  const before = await readdir(project);
  const { code, said } = await new Command(['sdk', project], { environment: place.environment }).ends();
  assert.equal(code, 0, said);
  assert.match(said, /manifest\.schema\.json\n.*types\/sdk\n$/);
  assert.equal(await readFile(types, 'utf8'), former);
  assert.deepEqual(JSON.parse(await readFile(path.join(project, 'manifest.schema.json'), 'utf8')), manifestSchema());
  assert.deepEqual(await readdir(project), before, 'the packer adds the SDK: no package is written');
});

test('the type check of a TypeScript project finds a mistake in the page and in the backend', async () => {
  const { project } = await made('both', 'typescript');
  await typed(['npm run check'], project);
  for (const [part, entry] of [
    ['page', '@platform/sdk/browser'],
    ['backend', '@platform/sdk'],
  ] as const) {
    const mistake = path.join(project, part, 'mistake.ts');
    await writeFile(mistake, `import { Notifications } from '${entry}';\n(await Notifications.connect()).publsh();\n`);
    await assert.rejects(typed(['npm run check'], project), ({ stdout }: { stdout: string }) =>
      /mistake\.ts.*'publsh' does not exist/.test(stdout),
    );
    await rm(mistake);
  }
});

test('in plain JavaScript editors know the SDK, which the packer adds later', async () => {
  const { project } = await made('both', 'javascript');
  const tsc = path.join(ROOT, 'node_modules/.bin/tsc');
  await typed([`${tsc} --noEmit --project jsconfig.json`], project);
  for (const [file, sdk] of [
    ['frontend/mistake.js', './platform-sdk.js'],
    ['workload/mistake.mjs', './platform-sdk.mjs'],
  ] as const) {
    const text = `// @ts-check\nimport { Notifications } from '${sdk}';\n(await Notifications.connect()).publsh();\n`;
    await writeFile(path.join(project, file), text);
    await assert.rejects(
      typed([`${tsc} --noEmit --project jsconfig.json`], project),
      ({ stdout }: { stdout: string }) => {
        assert.deepEqual([...stdout.matchAll(/error TS\d+: (.*)/g)].length, 1, stdout);
        return /'publsh' does not exist/.test(stdout);
      },
    );
    await rm(path.join(project, file));
  }
});

test('on a terminal it asks for what the options leave open', async (t) => {
  const command = new Command(['init', 'Ünser Plan', '--language', 'javascript'], {
    environment: place.environment,
    cwd: folder,
    terminal: true,
  });
  t.after(() => command.child.kill('SIGKILL'));
  await command.hears(/What does the app have\? frontend \| backend \| both\n/);
  command.types('frontnd');
  await command.hears(/The kind is one of frontend, backend, both, not "frontnd"\.\n[^\n]*both\n/);
  command.types('F');
  await command.hears(/Its name\? \[Ünser Plan\]\n/);
  command.types('two\u0007');
  await command.hears(/The name [^\n]*\n[^\n]*Its name/);
  command.types('Our plan');
  await command.hears(/Its id\? \[unser-plan\]\n/);
  for (const [wrong, why] of [
    ['No Id', /The id "No Id" must contain only/],
    ['store', /"store" is reserved/],
  ] as const) {
    command.types(wrong);
    await command.hears(why);
    await command.hears(/Its id\? \[unser-plan\]\n/);
  }
  command.types('');
  const { code, said } = await command.ends();
  assert.deepEqual([code, /\nNext:\n {2}cd 'Ünser Plan'/.test(said)], [0, true], said);
  const { name, id } = JSON.parse(await readFile(path.join(folder, 'Ünser Plan/manifest.json'), 'utf8'));
  assert.deepEqual([name, id], ['Our plan', 'unser-plan']);
});

test('when the input ends without an answer it says which option is needed, and makes nothing', async (t) => {
  const command = new Command(['init', 'unanswered', '--language', 'javascript'], {
    environment: place.environment,
    cwd: folder,
    terminal: true,
  });
  t.after(() => command.child.kill('SIGKILL'));
  await command.hears(/What does the app have/);
  command.types('\u0004');
  const { said } = await command.ends();
  assert.match(said, /There was no answer\. Add --kind frontend\|backend\|both\./);
  assert.ok(!(await readdir(folder)).includes('unanswered'));
});

test('the SDK of a project is made once, and not by a user who only makes projects', async (t) => {
  await made('frontend', 'javascript');
  const dist = path.join(ROOT, 'packages/sdk/dist');
  const kept = (await readdir(dist)).filter((name) => name.startsWith('package-'));
  assert.equal(kept.length, 1);
  // Nothing that would make it can be started.
  const command = new Command(['init', 'from-what-is-there', '--kind', 'both', '--language', 'typescript'], {
    environment: { ...place.environment, PATH: '/nowhere' },
    cwd: folder,
  });
  t.after(() => command.child.kill('SIGKILL'));
  const { code, said } = await command.ends();
  assert.equal(code, 0, said);
  assert.match((await readdir(path.join(folder, 'from-what-is-there'))).join(), /platform-sdk-[\d.]+\.tgz/);
  assert.deepEqual(
    (await readdir(dist)).filter((name) => name.startsWith('package-')),
    kept,
  );
});

test('what it refuses changes nothing', async () => {
  await mkdir(path.join(folder, 'taken'));
  await writeFile(path.join(folder, 'taken/.kept'), 'mine');
  await writeFile(path.join(folder, 'a-file'), 'mine');
  const before = await readdir(folder, { recursive: true });
  const both = ['--kind', 'both', '--language', 'javascript'];
  const cases: readonly [args: string[], code: number, reason: RegExp][] = [
    [['taken', ...both], 1, /taken is not empty/],
    [['a-file', ...both], 1, /a-file is not a folder/],
    [
      ['new', '--kind', 'bothh', '--language', 'javascript'],
      2,
      /--kind is one of frontend, backend, both, not "bothh"/,
    ],
    [['new', '--kind', 'both', '--language', 'cobol'], 2, /--language is one of javascript, typescript, not "cobol"/],
    [['new', ...both, '--id', 'Not-An-Id'], 2, /The id "Not-An-Id" must contain only lower-case letters/],
    [['new', ...both, '--id', 'x'], 2, /The id "x" must have at least 3 characters/],
    [['new', ...both, '--id', 'store'], 2, /"store" is reserved/],
    [['new', ...both, '--name', ' '], 2, /The name /],
    [['new', ...both, '--name', 'two\nlines'], 2, /The name must be one line/],
    [['new', ...both, '--colour', 'red'], 2, /Unknown option '--colour'/],
    [
      ['日本', ...both],
      2,
      /There is no terminal here to answer on\. The name of the folder suggests none\. Add --id <id>/,
    ],
    [['new', '--kind', 'both'], 2, /There is no terminal here to answer on\. Add --language javascript\|typescript/],
    [['new', 'other', ...both], 2, /Name one folder/],
    [[], 2, /Name one folder/],
  ];
  for (const [args, code, reason] of cases) {
    const answer = await init(...args);
    assert.deepEqual([answer.code, reason.test(answer.said)], [code, true], `${args.join(' ')}: ${answer.said}`);
  }
  assert.deepEqual(await readdir(folder, { recursive: true }), before);
});

for (const [language, page] of [
  ['javascript', 'frontend/index.html'],
  ['typescript', 'page/index.html'],
] as const) {
  test(`in ${language} a name cannot become part of the page or of the manifest`, async () => {
    const hostile = `</h1><script src="//evil.example"></script>","id":"' $& é`;
    const id = `hostile-${language}`;
    const { project } = await make(id, '--kind', 'frontend', '--language', language, '--name', hostile);
    const own = manifest.parse(JSON.parse(await readFile(path.join(project, 'manifest.json'), 'utf8')));
    assert.deepEqual([own.name, own.id], [hostile, id]);
    const text = await readFile(path.join(project, page), 'utf8');
    const [title = '', heading = ''] = [/<title>(.*)<\/title>/, /<h1>(.*)<\/h1>/].map((one) => one.exec(text)?.[1]);
    for (const shown of [title, heading]) {
      assert.doesNotMatch(shown, /[<>"']|&(?!#\d+;)/);
      assert.equal(
        shown.replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code))),
        hostile,
      );
    }
  });
}
