// Promises of what deletes by age: it compares with a time that has certainly passed, which only the clock guard makes, so
// that no sweep goes around it.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';

const SOURCE = path.join(import.meta.dirname, '../../packages/core/src');
const sources = globSync('**/*.ts', { cwd: SOURCE, exclude: ['**/*.test.ts'] }).map((file) => ({
  file,
  text: readFileSync(path.join(SOURCE, file), 'utf8'),
}));

/** Deletions that compare with a time for another reason than age, by their function, and why. */
const NOT_BY_AGE: Readonly<Record<string, string>> = {
  deleteFormer: 'what an app asks for: its former draft of the same app, unless somebody accepts that one',
  deleteUndecided: 'what the person asks for: a draft that nobody accepts just now',
  deleteEndedRun: 'what an app or its owner asks for: a run that still goes is kept',
  JobTable: 'a job that is done; that it is due only means that it is tried',
  LOCK: 'what an app asks for: another run with the identity of one that is to be removed',
};

const DELETES = /\bDELETE FROM\b|\bdeleteFrom\(/;
/** A column of a moment or a day, smaller than something that is given. */
const BY_AGE =
  /\b\w*(?:_at|_until|\bat|hour|day)\b(?:::\w+)?\s*<=?\s*(?:\$|[a-z(])|'\w*(?:_at|_until|hour|day)',\s*'<=?'/;
const TYPED = /\bProvenTime\b/;

/** The functions and statements of a file, by name: from where one begins at the margin to where the next one does. */
function pieces(text: string): { name: string; body: string }[] {
  const starts = [...text.matchAll(/^(?:export )?(?:async )?(?:function|const|class|interface|type) (\w+)/gm)];
  return starts.map(({ 1: name = '', index }, at) => ({ name, body: text.slice(index, starts[at + 1]?.index) }));
}

/** Deletions by age that name no proven time. */
function faults(all: readonly { readonly file: string; readonly text: string }[]): string[] {
  return all.flatMap(({ file, text }) => {
    const every = pieces(text);
    return every
      .filter(({ body }) => DELETES.test(body) && BY_AGE.test(body))
      .filter(({ name, body }) => {
        if (TYPED.test(body) || name in NOT_BY_AGE) return false;
        // A statement of its own: typed where it is run.
        return !every.some((user) => user.name !== name && user.body.includes(name) && TYPED.test(user.body));
      })
      .map(({ name }) => `${file}: ${name}`);
  });
}

/** What makes a proven time of any other, or sweeps on a timer of its own. */
function detours(all: readonly { readonly file: string; readonly text: string }[]): string[] {
  return all.flatMap(({ file, text }) => {
    const casts = !file.startsWith(`clock${path.sep}`) && /\bas (?:unknown as )?ProvenTime\b|<ProvenTime>/.test(text);
    const clocks = /new PeriodicTask\([\s\S]*?\n {2}\}\)/.exec(text)?.[0] ?? '';
    return [
      ...(casts ? [`${file} makes a proven time itself`] : []),
      ...(/\bclock\(\)|Date\.now\(/.test(clocks) ? [`${file} sweeps by a clock`] : []),
    ];
  });
}

test('every deletion by age takes a proven time', () => {
  assert.ok(sources.length > 200);
  assert.deepEqual(faults(sources), []);
});

test('only the guard makes one, and sweeps ask no clock', () => {
  assert.deepEqual(detours(sources), []);
});

test('core reads no clock but the guarded one, except to serve it', () => {
  const allowed = ['clock/machine-time.ts', 'clock/time-of.ts', 'push/send-message.ts'];
  const reading = sources.filter(({ text }) => /\bDate\.now\(|\bnew Date\(\)/.test(text)).map(({ file }) => file);
  assert.deepEqual(
    reading.filter((file) => !allowed.includes(file.split(path.sep).join('/'))),
    [],
  );
});

test('what goes around it would be found', () => {
  const text = `
export async function forgetOld(db: Executor, now: Date) {
  await db.deleteFrom('letters').where('sent_at', '<', now).execute();
}
export async function forgetRaw(db: Executor, before: Date) {
  await sql\`DELETE FROM letters WHERE sent_at < \${before}\`.execute(db);
}
const STATEMENT = 'DELETE FROM letters WHERE read_until <= $1';
export async function run(pool: Pool, now: Date) { await pool.query(STATEMENT, [now]); }
export async function forgetProven(db: Executor, before: ProvenTime) {
  await sql\`DELETE FROM letters WHERE sent_at < \${before}\`.execute(db);
}
export async function forgetOne(db: Executor, id: string) {
  await db.deleteFrom('letters').where('id', '=', id).execute();
}
const sweep = (context) =>
  new PeriodicTask(context, {
    piece: () => forgetProven(context.database, context.clock() as ProvenTime),
  });
`;
  assert.deepEqual(faults([{ file: 'letters/queries.ts', text }]), [
    'letters/queries.ts: forgetOld',
    'letters/queries.ts: forgetRaw',
    'letters/queries.ts: STATEMENT',
  ]);
  assert.deepEqual(detours([{ file: 'letters/queries.ts', text }]), [
    'letters/queries.ts makes a proven time itself',
    'letters/queries.ts sweeps by a clock',
  ]);
});
