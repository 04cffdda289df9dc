// What a person types becomes what core takes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { secretName } from '@platform/contract';
import { draftOf, missingIn, NEW, NO_DRAFT, nameOf } from './draft.ts';

test('names as people type them become names that core takes', () => {
  assert.equal(nameOf(' GitHub Token '), 'github-token');
  assert.equal(nameOf('--a__b'), 'a-b');
  for (const text of ['GitHub Token', 'x', '9', 'a'.repeat(90), 'Ärger & Co'])
    assert.ok(secretName.safeParse(nameOf(text)).success, text);
});

test('what is missing is said before anything is sent', () => {
  assert.equal(missingIn(NO_DRAFT, []), null, 'no secret is a choice');
  assert.equal(missingIn({ ...NO_DRAFT, secret: 'token' }, ['token']), null);
  assert.match(missingIn({ ...NO_DRAFT, secret: NEW }, []) ?? '', /name/);
  assert.match(missingIn({ ...NO_DRAFT, secret: NEW, newName: 'Token', newValue: 'x' }, ['token']) ?? '', /already/);
  assert.match(missingIn({ ...NO_DRAFT, secret: NEW, newName: 't' }, []) ?? '', /Paste/);
  assert.equal(missingIn({ ...NO_DRAFT, secret: NEW, newName: 't', newValue: 'x' }, []), null);
  assert.match(missingIn({ ...NO_DRAFT, secret: 't', place: 'query' }, ['t']) ?? '', /parameter/);
});

test('a binding is shown as it is', () => {
  const draft = (inject: Parameters<typeof draftOf>[1]) => draftOf('t', inject);
  assert.deepEqual(draft({ in: 'header', name: 'Authorization', scheme: 'Bearer' }), { ...NO_DRAFT, secret: 't' });
  assert.equal(draft({ in: 'header', name: 'X-Key', scheme: '' }).placeName, 'X-Key');
  assert.equal(draft({ in: 'query', name: 'key', scheme: '' }).place, 'query');
  assert.deepEqual(draftOf(null, null), NO_DRAFT);
});
