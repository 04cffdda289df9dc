// Which queries are sent while a person types, and which answer is shown, in whatever order and however late they
// arrive.
import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';
import { ApiError } from '../../api/api-error.ts';
import { createTypedQuery, PAUSE_MS, SLOW_MS, type TypedQuery } from './typed-query.ts';

interface Question extends PromiseWithResolvers<string> {
  readonly query: string;
  readonly signal: AbortSignal;
}

let questions: Question[];
let typed: TypedQuery<string>;

mock.timers.enable({ apis: ['setTimeout'] });

beforeEach(() => {
  questions = [];
  typed = createTypedQuery((query, signal) => {
    const question = { query, signal, ...Promise.withResolvers<string>() };
    questions.push(question);
    return question.promise;
  });
});

const asked = () => questions.map(({ query }) => query);
const phase = () => typed.state.value.phase;

/** Types, and pauses long enough that it is asked. */
function ask(text: string): Question {
  typed.type(text);
  mock.timers.tick(PAUSE_MS);
  const question = questions.at(-1);
  assert.ok(question !== undefined);
  return question;
}

async function settle(): Promise<void> {
  for (let turns = 0; turns < 5; turns += 1) await Promise.resolve();
}

async function answer(question: Question, text: string): Promise<void> {
  question.resolve(text);
  await settle();
}

async function refuse(question: Question, error: Error): Promise<void> {
  question.reject(error);
  await settle();
}

const tooMany = (seconds: number | null) =>
  new ApiError({ code: 'rate_limited', detail: 'Too many requests.', status: 429 }, seconds);

test('letters typed quickly make one question, and spaces around it none', () => {
  for (const text of ['m', 'mi', 'mil', 'milk']) {
    typed.type(text);
    mock.timers.tick(PAUSE_MS - 1);
  }
  typed.type('milk ');
  assert.deepEqual(asked(), []);
  mock.timers.tick(1);
  assert.deepEqual(asked(), ['milk']);
  typed.type(' milk  ');
  mock.timers.tick(PAUSE_MS);
  assert.deepEqual(asked(), ['milk']);
});

test('a letter ends the question before it, whose late answer or failure changes nothing', async () => {
  const first = ask('mi');
  typed.type('mil');
  assert.equal(first.signal.aborted, true);
  await answer(first, 'all with mi');
  assert.deepEqual([phase(), typed.state.value.found], ['asking', null]);
  mock.timers.tick(PAUSE_MS);
  const second = questions[1];
  assert.ok(second !== undefined);
  const third = ask('milk');
  await answer(third, 'all with milk');
  await refuse(second, new Error('it was cut off'));
  assert.deepEqual(typed.state.value, { query: 'milk', phase: 'answered', found: 'all with milk', message: null });
});

test('what was found stays until there is something newer, and slowness is shown', async () => {
  await answer(ask('mi'), 'all with mi');
  const next = ask('mil');
  assert.deepEqual([phase(), typed.state.value.found], ['asking', 'all with mi']);
  mock.timers.tick(SLOW_MS);
  assert.deepEqual([phase(), typed.state.value.found], ['slow', 'all with mi']);
  await answer(next, 'all with mil');
  assert.deepEqual([phase(), typed.state.value.found], ['answered', 'all with mil']);
  mock.timers.tick(SLOW_MS);
  assert.equal(phase(), 'answered');
});

test('an empty field forgets what was found and what is under way', async () => {
  await answer(ask('milk'), 'all with milk');
  const question = ask('milks');
  typed.type('  ');
  assert.equal(question.signal.aborted, true);
  await answer(question, 'all with milks');
  assert.deepEqual(typed.state.value, { query: '', phase: 'idle', found: null, message: null });
});

test('a failure says so, and the same text may be asked again', async () => {
  await answer(ask('mil'), 'all with mil');
  await refuse(ask('milk'), new ApiError({ code: 'unavailable', detail: 'It does not answer.', status: 0 }));
  assert.deepEqual(typed.state.value, {
    query: 'milk',
    phase: 'failed',
    found: null,
    message: 'It does not answer.',
  });
  await answer(ask('milk'), 'all with milk');
  assert.deepEqual([phase(), typed.state.value.message], ['answered', null]);
});

test('when core has had enough, nothing is asked until it takes more, then what is typed by that time', async () => {
  await answer(ask('m'), 'all with m');
  await refuse(ask('mi'), tooMany(3));
  assert.deepEqual(typed.state.value, {
    query: 'mi',
    phase: 'waiting',
    found: 'all with m',
    message: 'Too many searches. Retrying in 3 seconds.',
  });
  typed.type('mil');
  typed.type('milk');
  mock.timers.tick(2_999);
  assert.deepEqual(asked(), ['m', 'mi']);
  mock.timers.tick(1);
  assert.deepEqual(asked(), ['m', 'mi', 'milk']);
  const again = questions[2];
  assert.ok(again !== undefined);
  await refuse(again, tooMany(1));
  assert.match(typed.state.value.message ?? '', /in a second\.$/);
  typed.end();
  mock.timers.tick(1_000);
  assert.equal(questions.length, 3, 'the former query is abandoned');
  await answer(ask('milk'), 'all with milk');
  assert.deepEqual([phase(), typed.state.value.message], ['answered', null]);
});

test('who presses Enter before the answer gets it once it is there, and not the answer to something else', async () => {
  const got: string[] = [];
  typed.whenAnswered((found) => got.push(found));
  const first = ask('mil');
  typed.whenAnswered((found) => got.push(found));
  const second = ask('milk');
  await answer(first, 'all with mil');
  typed.whenAnswered((found) => got.push(found));
  assert.equal(got.length, 0);
  await answer(second, 'all with milk');
  assert.deepEqual(got, ['all with milk']);
  typed.whenAnswered((found) => got.push(`${found}, at once`));
  assert.deepEqual(got, ['all with milk', 'all with milk, at once']);

  const left = ask('milks');
  typed.whenAnswered((found) => got.push(found));
  typed.end();
  await answer(left, 'all with milks');
  await refuse(ask('no'), new Error('a bug'));
  typed.whenAnswered((found) => got.push(found));
  assert.equal(got.length, 2);
});
