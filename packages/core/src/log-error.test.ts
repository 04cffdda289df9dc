// The log has the words of an error and never what others hung on it, under whatever name and however deep.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { refuse } from '@platform/contract';
import pg from 'pg';
import { Pool } from 'undici';
import * as z from 'zod';
import { reasonOf } from './config/start-error.ts';
import { createLog } from './log.ts';
import { errorInWords } from './log-error.ts';

/** What the log writes for these fields. */
function logged(fields: object): Record<string, unknown> {
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  createLog('info', destination).warn(fields, 'it happened');
  assert.equal(lines.length, 1);
  const [line = ''] = lines;
  assert.equal(line.indexOf('\n'), line.length - 1, 'one line');
  return JSON.parse(line) as Record<string, unknown>;
}

const membersOf = (value: unknown) => Object.keys(value as object).sort();

test('the connection that a pool puts on its error is not in the log', () => {
  const client = new pg.Client({ connectionString: 'postgres://anna:hunter2@127.0.0.1/x' });
  const error = Object.assign(new Error('Connection terminated unexpectedly'), {
    client,
    socket: connect(9, '127.0.0.1'),
  });
  error.socket.on('error', () => undefined).destroy();
  const { err, other } = logged({ err: error, other: new Error('outer', { cause: error }) });
  assert.deepEqual(membersOf(err), ['message', 'stack', 'type']);
  assert.deepEqual(membersOf(other), ['causes', 'message', 'stack', 'type']);
  assert.deepEqual((other as { causes: string[] }).causes, ['Connection terminated unexpectedly']);
  assert.doesNotMatch(errorInWords(error), /_events|hunter2/);
});

test('a statement that fails leaves its values out', () => {
  const fault = new pg.DatabaseError('duplicate key value violates unique constraint "accounts_name"', 100, 'error');
  Object.assign(fault, { code: '23505', detail: 'Key (name)=(anna) already exists.', where: 'x', table: 'accounts' });
  const { err } = logged({ err: fault });
  assert.deepEqual(membersOf(err), ['code', 'message', 'stack', 'type']);
  assert.doesNotMatch(JSON.stringify(err), /anna/);
});

test('what a network says is its words and its code, without a stack', async () => {
  const pool = new Pool('http://127.0.0.1:9');
  const error: unknown = await pool.request({ path: '/', method: 'GET' }).catch((thrown: unknown) => thrown);
  await pool.destroy();
  assert.deepEqual(logged({ err: error }).err, {
    type: 'Error',
    message: 'connect ECONNREFUSED 127.0.0.1:9',
    code: 'ECONNREFUSED',
  });
  assert.equal(errorInWords(error), 'connect ECONNREFUSED 127.0.0.1:9');
  assert.equal(
    errorInWords(Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' })),
    'other side closed (UND_ERR_SOCKET)',
  );
});

test('causes are named, the nearest first, each once, and not without end', () => {
  const [first, second] = [new Error('first'), new Error('second')];
  first.cause = second;
  second.cause = first;
  const several = new AggregateError([first, new Error('third')], 'none of them');
  assert.deepEqual((logged({ err: several }).err as { causes: string[] }).causes, ['first', 'third', 'second']);
  const deep = Array.from({ length: 30 }).reduce(
    (cause: Error, _, depth) => new Error(`level ${depth}`, { cause }),
    new Error('root'),
  );
  assert.equal((logged({ err: deep }).err as { causes: string[] }).causes.length, 4);
});

test('a refusal has its code, and a long message with breaks is one short line', () => {
  const { code, message } = logged({ err: refuse('not_found', 'No such thing.') }).err as Record<string, string>;
  assert.deepEqual([code, message], ['not_found', 'not_found: No such thing.']);
  const long = logged({ err: new Error(`a\n  b ${'x'.repeat(10_000)}`) }).err as Record<string, string>;
  assert.match(long.message ?? '', /^a b x{496}…$/);
});

test('an answer of another form has its first fault in the words of the platform', () => {
  const { error } = z.object({ items: z.array(z.object({ at: z.string() })) }).safeParse({ items: [{}, 5] });
  const words = 'it has another form: `items[0].at` is missing';
  assert.equal((logged({ err: error }).err as Record<string, string>).message, words);
  assert.equal(errorInWords(error).split('\n', 1)[0], words);
  assert.equal(reasonOf(error), words);
});

test('what is no error is as it was', () => {
  assert.deepEqual(logged({ err: 'text', count: 1, nested: { a: 1 } }).err, 'text');
  assert.equal(errorInWords('text'), 'text');
});
