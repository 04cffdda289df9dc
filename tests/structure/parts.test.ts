// Promises of the processes of the platform: each is a file in supervisor/parts/ and a line in its table, and what starts,
// watches, shows and checks them names none of them.
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { readConfiguration } from '@platform/core/config';
import { parts, plannedListeners } from '../../packages/cli/test-support/parts.ts';
import { loadedBy } from './circles.ts';
import { ROOT } from './modules.ts';

const SOURCE = 'packages/cli/src/';
const PARTS = `${SOURCE}supervisor/parts/`;

const sources = globSync(`${SOURCE}**/*.ts`, { cwd: ROOT, exclude: ['**/*.test.ts'] }).map((file) => ({
  file,
  text: readFileSync(path.join(ROOT, file), 'utf8'),
}));

/** Everything that is listened on where all of it is configured. */
const everything = readConfiguration(
  {
    PLATFORM_LINK_LISTEN: '127.0.0.1:8789',
    PLATFORM_INGRESS_HTTP_LISTEN: '127.0.0.1:8080',
    PLATFORM_INGRESS_TLS: 'files:/etc/platform/tls',
    PLATFORM_MESSAGING_HOMESERVER_URL: 'http://127.0.0.1:8008',
  },
  { isRoot: false, home: '/home/ada' },
);

test('the table has every part that has a file, once, and each with a program has it', async () => {
  const files = globSync(`${PARTS}*.ts`, { cwd: ROOT }).filter((file) => !/(?:-process|table)\.ts$/.test(file));
  assert.equal(files.length, parts.length);
  const declared: unknown[] = [];
  for (const file of files) declared.push(...Object.values(await import(path.join(ROOT, file))));
  for (const part of parts) assert.ok(declared.includes(part), part.name);
  assert.equal(new Set(parts.map(({ name }) => name.toLowerCase())).size, parts.length);
  const programs = parts.flatMap((part) => ('program' in part ? [part.program] : []));
  assert.ok(programs.length >= 3);
  for (const program of programs) {
    assert.ok(existsSync(program), program.href);
    assert.match(readFileSync(program, 'utf8'), /^runPart\(/m);
  }
});

test('what a part needs starts before it', () => {
  for (const [place, { name, needs = [] }] of parts.entries())
    for (const needed of needs) assert.ok(parts.slice(0, place).includes(needed as (typeof parts)[number]), name);
});

test('each listener has a part, a variable and a port of its own', () => {
  const listeners = plannedListeners(everything);
  assert.equal(listeners.length, 6);
  for (const key of ['variable', 'port', 'what'] as const)
    assert.equal(new Set(listeners.map((one) => one[key])).size, listeners.length, key);
});

/** Folders of the command line that treat all parts alike, and the files of tests that do. */
const ALIKE = new RegExp(`^${SOURCE}(?:(?:apps|local|process|start|terminal)/|doctor/doctor\\.ts$|supervisor/[^/]+$)`);
const NAMED = [
  ...parts.map(({ name }) => name),
  ...plannedListeners(everything).map(({ variable }) => variable),
  // Of its metrics.
  ...parts.map(({ name }) => `part="${name.toLowerCase()}"`),
];

/** Strings of the source that name a part, or where one listens. */
function namesIn(text: string): string[] {
  return NAMED.filter((name) => [`'${name}'`, `"${name}"`, `\`${name}\``].some((literal) => text.includes(literal)));
}

test('what treats all parts alike names none', () => {
  const alike = sources.filter(({ file }) => ALIKE.test(file));
  assert.ok(alike.length > 30);
  const found = alike.flatMap(({ file, text }) => namesIn(text).map((name) => `${file}: ${name}`));
  assert.deepEqual(found, []);
});

test('nothing but the table and the parts themselves imports one', () => {
  const found = sources.flatMap(({ file, text }) =>
    loadedBy(file, text)
      .filter(({ from, to }) => to.startsWith(PARTS) && to !== `${PARTS}table.ts` && !from.startsWith(PARTS))
      .map(({ from, to }) => `${from} imports ${to}`),
  );
  // Other commands get the database's address with what runs: PostgreSQL is no part like the others.
  assert.deepEqual(found, [`${SOURCE}supervisor/keep-parts.ts imports ${PARTS}core.ts`]);
});

test('a name would be found', () => {
  assert.deepEqual(namesIn("new KeptPart({ name: 'Ingress', start })"), ['Ingress']);
  assert.deepEqual(namesIn("requireFreePort('PLATFORM_LINK_LISTEN', host, port)"), ['PLATFORM_LINK_LISTEN']);
  assert.ok(ALIKE.test(`${SOURCE}supervisor/supervise.ts`) && !ALIKE.test(`${PARTS}core.ts`));
  const program = loadedBy(`${SOURCE}start/start.ts`, "import { core } from '../supervisor/parts/core.ts';");
  assert.deepEqual(
    program.map(({ to }) => to),
    [`${PARTS}core.ts`],
  );
});
