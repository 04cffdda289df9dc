// What does not pass as it is: reports of usage that nobody asked for, and models that are not granted.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Rewrite } from '@platform/http';
import fc from 'fast-check';
import { onlyModels, withoutUsage } from './rewrites.ts';

function through(rewrite: Rewrite, bytes: Buffer, piece = 7): string {
  const out: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += piece)
    out.push(rewrite.chunk(bytes.subarray(at, at + piece)) ?? Buffer.of());
  out.push(rewrite.end() ?? Buffer.of());
  return Buffer.concat(out).toString();
}

const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
const answer = JSON.stringify({ choices: [{ delta: { content: 'é' } }] });
const long = JSON.stringify({ choices: [{ delta: { content: 'x'.repeat(100_000) } }] });

test('whatever ends its lines and wherever it is cut, only the event with the usage is withheld', () => {
  const others = fc.array(fc.constantFrom(answer, long, '[DONE]'), { maxLength: 4 });
  const end = fc.constantFrom('\n', '\r\n', '\r');
  fc.assert(
    fc.property(others, others, end, fc.integer({ min: 1, max: 4_096 }), (before, after, newline, piece) => {
      const written = (events: readonly string[]) => events.map((data) => `data: ${data}${newline}${newline}`).join('');
      const report = JSON.stringify({ id: 'c', choices: [], usage });
      const got = through(withoutUsage(), Buffer.from(written([...before, report, ...after])), piece);
      assert.equal(got, written([...before, ...after]));
    }),
  );
});

test('a stream of empty lines takes no object for each', () => {
  const rewrite = withoutUsage();
  for (const line of ['\n', '\r', '\r\n', ':\n\n']) {
    const bytes = Buffer.from(line.repeat(20_000));
    let objects = 0;
    bytes.subarray = (...range) => {
      objects += 1;
      return Buffer.prototype.subarray.apply(bytes, range);
    };
    assert.ok(rewrite.chunk(bytes)?.equals(bytes));
    assert.ok(objects < 10, `${objects} objects for 20,000 of ${JSON.stringify(line)}`);
  }
});

test('of an event that carries more, all but the usage passes', () => {
  const event = { id: 'c', choices: [], usage, citations: ['https://example.org/a'] };
  const got = through(withoutUsage(), Buffer.from(`event: x\ndata: ${JSON.stringify(event)}\n\n`));
  assert.equal(got, 'event: x\ndata: {"id":"c","choices":[],"citations":["https://example.org/a"]}\n\n');
});

test('an event with an answer, an error or anything else passes without its usage, its numbers as they were written', () => {
  for (const rest of [
    '"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]',
    '"choices":[{"delta":{"tool_calls":[{"index":0}]}}],"created":1.0',
    '"error":{"message":"overloaded"}',
    '"choices":[],"prompt_filter_results":[12345678901234567890]',
    '"choices":[],"x_groq":{"id":"r"}',
  ])
    for (const reported of [JSON.stringify(usage), 'null']) {
      const got = through(withoutUsage(), Buffer.from(`data: {${rest},"usage":${reported}}\n\n`));
      assert.equal(got, `data: {${rest}}\n\n`);
    }
});

test('an event with nothing but the usage is withheld, however it is written', () => {
  const report = JSON.stringify({ id: 'c', choices: [], usage });
  const written = [
    `\ufeffdata: ${report}\n\n`,
    `data:${report}\n\n`,
    `id: 1\nevent: message\ndata: ${report}\nretry: 3\n\n`,
    `data: ${JSON.stringify({ usage })}\n\n`,
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: null, usage })}\r\n\r\n`,
    `data: ${JSON.stringify({ choices: [], usage: null })}\r\r`,
    `: ping\ndata: ${JSON.stringify({ choices: [], usage }, null, 2).replaceAll('\n', '\ndata: ')}\n\n`,
  ];
  for (const event of written) assert.equal(through(withoutUsage(), Buffer.from(event), 1), '', event);
});

test('a text that names the usage passes as it came', () => {
  for (const data of [
    '{"choices":[{"delta":{"content":"\\"usage\\" of 1.0"}}]}',
    '{ "choices" : [ { "usage" : 1.0 } ] }',
    '"usage"',
  ])
    assert.equal(through(withoutUsage(), Buffer.from(`data: ${data}\r\n\r\n`)), `data: ${data}\r\n\r\n`);
});

test('a report at the very end of a stream is withheld', () => {
  const events = `data: ${answer}\n\ndata: ${JSON.stringify({ choices: [], usage })}`;
  assert.equal(through(withoutUsage(), Buffer.from(events)), `data: ${answer}\n\n`);
});

test('a list of models has nothing but the granted ones, and of them nothing that names others', () => {
  const secret = 'secret-model';
  const list = {
    object: 'list',
    data: [
      {
        id: 'small',
        object: 'model',
        created: 1,
        owned_by: 'o',
        parent: secret,
        root: secret,
        aliases: [secret],
        n: { a: secret },
      },
      { id: secret, object: 'model' },
      { id: [secret] },
      secret,
    ],
    models: [{ name: secret, model: secret }],
    first_id: secret,
    last_id: secret,
    default: secret,
  };
  const got = through(onlyModels(['small']), Buffer.from(JSON.stringify(list)));
  assert.deepEqual(JSON.parse(got), {
    object: 'list',
    data: [{ id: 'small', object: 'model', created: 1, owned_by: 'o' }],
    ...{ first_id: 'small', last_id: 'small' },
  });
});

test('any other member of a list or a model is left out, whatever its name and shape', () => {
  const name = fc
    .string({ minLength: 1 })
    .filter(
      (one) =>
        !['data', 'id', 'name', 'display_name', 'owned_by', 'type', 'object', 'created_at', '__proto__'].includes(one),
    );
  const value = fc.constantFrom<unknown>('secret', ['secret'], { id: 'secret' }, [{ id: 'secret' }]);
  fc.assert(
    fc.property(name, value, (member, leak) => {
      const list = { data: [{ id: 'small', [member]: leak }], [member]: leak };
      assert.ok(!through(onlyModels(['small']), Buffer.from(JSON.stringify(list))).includes('secret'));
    }),
  );
});
