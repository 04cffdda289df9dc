// Scopes in words.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scopesChosenBeforehand } from '@platform/contract/tool-scopes';
import { READS, TOPICS, wordsOfScopes } from './scope-words.ts';

const nameOf = (appId: string) => (appId === 'notes' ? 'Notes' : appId);
const words = (...scopes: string[]) => wordsOfScopes(scopes, nameOf);

test('what is chosen beforehand reads every topic, and proposes the rest', () => {
  const chosen = scopesChosenBeforehand(['tools:call:*', 'tools:propose:*'], null);
  assert.deepEqual(words(...chosen), [...TOPICS.map((topic) => READS[topic]), 'Uses all tools when you approve']);
});

test('tools of apps are named by the app', () => {
  assert.deepEqual(words('tools:call:notes.*'), ['Uses tools of Notes and reads what it offers without asking']);
  assert.deepEqual(words('tools:propose:notes.add'), ['Uses the tool “add” of Notes when you approve']);
  assert.deepEqual(words('tools:call:notes.read*'), ['Uses the tools “read*” of Notes without asking']);
  assert.deepEqual(words('tools:call:no*'), ['Uses the tools “no*” without asking']);
});

test('everything is said as everything, and a part of a topic by its names', () => {
  assert.deepEqual(words('tools:call:*'), ['Uses all tools and reads what your apps offer without asking']);
  assert.deepEqual(words('tools:call:platform-messaging.send'), [
    'Uses the tools “platform-messaging.send” without asking',
  ]);
});
