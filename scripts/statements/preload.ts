// Loaded into every process of a test run by record.ts: writes each SQL statement that core's own code sends to
// PostgreSQL to a file of this process, once and at once, since tests kill processes. Statements of the tests
// themselves are left out.
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import pg from 'pg';

/** The folder that record.ts collects from. */
export const FOLDER_VARIABLE = 'RECORDED_STATEMENTS';

const folder = process.env[FOLDER_VARIABLE];
const texts = new Set<string>();

if (folder !== undefined) {
  Error.stackTraceLimit = 60;
  noteQueriesOf(pg.Client.prototype);
  // The pool queries from a callback, where the stack of its caller is gone.
  noteQueriesOf(pg.Pool.prototype);
}

function noteQueriesOf(prototype: object): void {
  const query: unknown = Reflect.get(prototype, 'query');
  if (typeof query !== 'function') throw new Error('pg has no query function to record');
  Reflect.set(prototype, 'query', function (this: unknown, ...args: readonly unknown[]) {
    const text = textOf(args[0]);
    if (text !== null && !texts.has(text) && isSentByCore(new Error().stack ?? '')) note(text);
    return query.apply(this, args);
  });
}

function note(text: string): void {
  texts.add(text);
  appendFileSync(join(folder ?? '', `${process.pid}-${threadId}`), `${JSON.stringify(text)}\n`);
}

function textOf(query: unknown): string | null {
  if (typeof query === 'string') return query;
  if (typeof query !== 'object' || query === null || !('text' in query)) return null;
  return typeof query.text === 'string' ? query.text : null;
}

/** By the innermost stack frame of the platform; without one it is core, whose queries run behind a query builder. */
function isSentByCore(stack: string): boolean {
  const frames = stack.split('\n').slice(1);
  const ours = frames.filter((frame) => !/node_modules|node:|scripts\/statements/.test(frame));
  const innermost = ours[0];
  if (innermost === undefined) return !/pg-pool/.test(stack);
  return /\/packages\/core\/src\//.test(innermost) && !/\.test\.ts|\/database\/migrate\.ts/.test(innermost);
}
