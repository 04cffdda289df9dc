// Promises of who owns which signal: every signal has one owner, only its owner and whom it declares send it, and none is
// sent that nobody listens to.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import type { OwnedSignals } from '../../packages/core/test-support/internals.ts';

const SOURCE = path.join(import.meta.dirname, '../../packages/core/src');

interface Source {
  /** The folder. */
  readonly domain: string;
  readonly text: string;
}

interface Declared {
  readonly owner: string;
  readonly name: string;
  /** Besides its owner, and why. */
  readonly sentBy: Readonly<Record<string, string>>;
}

const declared: Declared[] = [];
for (const file of globSync('*/signals.ts', { cwd: SOURCE })) {
  const { signals = {} } = (await import(path.join(SOURCE, file))) as { readonly signals?: OwnedSignals };
  for (const [name, { sentBy = {} }] of Object.entries(signals))
    declared.push({ owner: path.dirname(file), name, sentBy });
}

/** What sends signals itself, for all. */
const SENDING = 'database';
const sources: readonly Source[] = globSync('**/*.ts', { cwd: SOURCE, exclude: ['**/*.test.ts', '**/signals.ts'] }).map(
  (file) => ({ domain: file.split(path.sep)[0] ?? '', text: readFileSync(path.join(SOURCE, file), 'utf8') }),
);

const CALL = /\bnotify(?:Each|Statement|Call)?\(/g;
const NAMED = /^\s*(?:\w+,\s*)?'([a-z-]+)'/;

/** The names in the calls that send a signal; `null` for a call that does not name it. */
function sentIn(text: string): (string | null)[] {
  return [...text.matchAll(CALL)].map(({ 0: call, index }) => NAMED.exec(text.slice(index + call.length))?.[1] ?? null);
}

/** The names that stand anywhere else: where somebody listens. */
function heardIn(text: string): string[] {
  const rest = text.replace(/\bnotify(?:Each|Statement|Call)?\(\s*(?:\w+,\s*)?'[a-z-]+'/g, '');
  return [...rest.matchAll(/'([a-z-]+)'/g)].map(([, name = '']) => name);
}

/** What is not as it is declared; empty when all is well. */
function faults(signals: readonly Declared[], all: readonly Source[]): string[] {
  const sent = all
    .filter(({ domain }) => domain !== SENDING)
    .flatMap(({ domain, text }) => sentIn(text).map((name) => ({ domain, name })));
  const heard = new Set(all.flatMap(({ text }) => heardIn(text)));
  const trespassing = sent.flatMap(({ domain, name }) => {
    if (name === null) return [`${domain} sends a signal without naming it there`];
    const one = signals.find((signal) => signal.name === name);
    if (one === undefined) return [`${domain} sends ${name}, which nobody owns`];
    return domain === one.owner || domain in one.sentBy ? [] : [`${domain} sends ${name} of ${one.owner}`];
  });
  const idle = signals.flatMap(({ owner, name, sentBy }) => [
    ...(signals.filter((other) => other.name === name).length > 1 ? [`${name} has several owners`] : []),
    ...(sent.some((one) => one.name === name) ? [] : [`${name} is never sent`]),
    ...(heard.has(name) ? [] : [`nobody listens to ${name}`]),
    ...Object.keys(sentBy)
      .filter((domain) => domain === owner || !sent.some((one) => one.name === name && one.domain === domain))
      .map((domain) => `${domain} does not send ${name}`),
  ]);
  return [...new Set([...trespassing, ...idle])];
}

test('each signal has one owner, is sent by those it names alone, and is listened to', () => {
  assert.ok(declared.length > 10 && sources.length > 200, `${declared.length} signals, ${sources.length} files`);
  assert.deepEqual(faults(declared, sources), []);
});

test('the map of signals names them in their owners’ files alone', () => {
  const map = readFileSync(path.join(SOURCE, 'database/signals.ts'), 'utf8');
  assert.match(map, /export interface SignalMap \{\}/);
  for (const file of globSync('*/signals.ts', { cwd: SOURCE, exclude: ['database/**'] })) {
    const text = readFileSync(path.join(SOURCE, file), 'utf8');
    const typed = [...text.matchAll(/^ {4}'?([a-z-]+)'?: /gm)].map(([, name]) => name);
    const owned = declared.filter(({ owner }) => owner === path.dirname(file)).map(({ name }) => name);
    assert.deepEqual(typed, owned, file);
  }
});

test('whatever is not as declared would be found', () => {
  const signals = [
    { owner: 'home', name: 'home-changed', sentBy: { pause: 'a reason' } },
    { owner: 'home', name: 'never-sent', sentBy: {} },
    { owner: 'push', name: 'home-changed', sentBy: {} },
    { owner: 'push', name: 'unheard', sentBy: {} },
  ];
  const all = [
    { domain: 'home', text: "await notify(trx, 'home-changed', {});\nawait notify(\n  trx,\n  name,\n  {},\n);" },
    { domain: 'search', text: "notifyStatement('home-changed', {}); signals.on('never-sent', wake);" },
    { domain: 'push', text: "await notifyEach(\n  trx,\n  'unheard',\n  all,\n); notifyCall('unowned', {});" },
    { domain: 'nodes', text: "const wakeOn = 'home-changed';" },
  ];
  assert.deepEqual(faults(signals, all), [
    'home sends a signal without naming it there',
    'search sends home-changed of home',
    'push sends unowned, which nobody owns',
    'home-changed has several owners',
    'pause does not send home-changed',
    'never-sent is never sent',
    'nobody listens to unheard',
  ]);
});
