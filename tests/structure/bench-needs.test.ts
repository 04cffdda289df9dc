// `npm run bench` names what a bench lacks before it runs, in a line with the cure; so every bench says what it needs.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { needs, PACKAGES, type Program } from '../../bench/needs.ts';

const BENCH = fileURLToPath(new URL('../../bench', import.meta.url));
const benches = readdirSync(BENCH).filter((name) => existsSync(path.join(BENCH, name, 'bench.ts')));

/** What functions of other folders run. */
const HELPERS: readonly (readonly [name: string, programs: readonly Program[]])[] = [
  ['loadWithWrk', ['taskset', 'wrk']],
  ['startNginx', ['nginx', 'taskset']],
  ['startScript', ['taskset']],
  ['startCoreAlone', ['taskset']],
  ['connectTwoNetworks', ['ip', 'nft', 'nsenter']],
];

/** Programs that the folder of a bench runs by their names, or through a function that it imports. */
function programsOf(bench: string): Program[] {
  const folder = path.join(BENCH, bench);
  const text = readdirSync(folder)
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(path.join(folder, file), 'utf8'))
    .join('\n');
  const named = (Object.keys(PACKAGES) as Program[]).filter((name) =>
    new RegExp(`(?:spawn|run|exec\\w*|execFile\\))\\(\\s*'${name}'|startProgram\\(\\s*\\['${name}'`).test(text),
  );
  const helped = HELPERS.filter(([name]) => new RegExp(`import[^;]*\\b${name}\\b`).test(text)).flatMap(
    ([, all]) => all,
  );
  return [...new Set([...named, ...helped])];
}

function run(args: readonly string[], PATH = process.env.PATH) {
  const options = { env: { ...process.env, PATH }, encoding: 'utf8', timeout: 60_000 } as const;
  return spawnSync(process.execPath, [path.join(BENCH, 'run.ts'), ...args], options);
}

test('every bench says what it needs, and no other', () => {
  assert.deepEqual(Object.keys(needs).sort(), [...benches].sort());
});

for (const bench of benches) {
  test(`the bench ${bench} names the programs that it runs`, () => {
    const said: readonly string[] = needs[bench]?.programs ?? [];
    assert.deepEqual(
      programsOf(bench).filter((name) => !said.includes(name)),
      [],
    );
  });
}

test('the test finds programs', () => {
  assert.deepEqual(programsOf('core').sort(), ['taskset', 'wrk']);
  assert.ok(programsOf('ingress').includes('slowhttptest'));
});

test('a chosen bench that lacks programs is one line with the packages, and nothing runs', () => {
  const { status, stdout, stderr } = run(['core'], '/nonexistent');
  assert.equal(status, 1);
  assert.match(stderr, /^The bench core needs taskset and wrk.*\. On Debian: apt-get install util-linux wrk\n$/);
  assert.equal(stdout, '');
});

test('a bench that there is none of is one line with those that there are', () => {
  const { status, stderr } = run(['gatway']);
  assert.equal(status, 2);
  assert.equal(stderr, `There is no bench named gatway. There are: ${[...benches].sort().join(', ')}\n`);
});
