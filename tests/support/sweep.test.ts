import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertNowhere, formsInMemory, formsOf } from './sweep.ts';

const SECRET = 'a"canary\\of/the+sweep?=&é<7f>';

for (const [name, write] of Object.entries({
  'as it is': (text: string) => text,
  'in hexadecimal': (text: string) => Buffer.from(text).toString('hex'),
  'in hexadecimal of capitals': (text: string) => Buffer.from(text).toString('hex').toUpperCase(),
  'in base64': (text: string) => Buffer.from(text).toString('base64'),
  'in base64url': (text: string) => Buffer.from(text).toString('base64url'),
  'in a query': encodeURIComponent,
  'in JSON': (text: string) => JSON.stringify({ text }),
  'in JSON in JSON': (text: string) => JSON.stringify({ text: JSON.stringify({ text }) }),
  'in XML': (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
}))
  test(`a secret is found ${name}, wherever it begins`, () => {
    for (const before of ['', 'x', 'xy', 'xyz'])
      assert.throws(
        () => assertNowhere({ log: write(`${before}${SECRET} and more`) }, { token: SECRET }),
        /token, form/,
      );
  });

test('what found it does not repeat it, and another text is none of its forms', () => {
  assert.throws(
    () => assertNowhere({ log: SECRET }, { token: SECRET }),
    (error: Error) => !error.message.includes('canary'),
  );
  assertNowhere({ log: 'another secret' }, { token: SECRET });
  for (const form of formsOf(SECRET)) assert.ok(form.length > 20, form);
});

test('a string of V8 with two bytes a letter is found in memory', () => {
  const memory = { memory: Buffer.from(`ж${SECRET}`, 'utf16le') };
  assert.throws(() => assertNowhere(memory, { token: SECRET }, formsInMemory), /token, form/);
});
