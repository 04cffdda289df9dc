// Settings and commands are found by their names, by the beginnings of words and by plain synonyms.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MENU_PAGES } from '../settings/pages.ts';
import { type Command, matchCommands } from './match-commands.ts';

const pages: Command[] = MENU_PAGES.map(({ path, icon, label, words }) => ({
  id: path,
  icon,
  title: label,
  about: '',
  words,
}));
const found = (typed: string, commands: readonly Command[] = pages) =>
  matchCommands(commands, typed).map(({ id }) => id);

for (const [typed, page] of [
  ['passkey', 'passkeys'],
  ['Password', 'passkeys'],
  ['notif', 'notifications'],
  ['do not disturb', 'notifications'],
  ['api key', 'ai'],
  ['logged in', 'sessions'],
  ['disk space', 'storage'],
  ['uninstall', 'apps'],
  ['delete account', 'account'],
  ['terminal', 'command-line'],
] as const) {
  test(`“${typed}” finds the page ${page}`, () => assert.ok(found(typed).includes(page), `${found(typed)}`));
}

test('every page has synonyms', () => {
  for (const { words, label } of MENU_PAGES) assert.ok(words.length > 0, label);
});

test('a title comes before a synonym, nothing is found in the middle of a word, and a list stays short', () => {
  const command = (id: string, title: string, words = ''): Command => ({ id, icon: 'apps', title, about: '', words });
  const all = [command('one', 'Something', 'dark'), command('two', 'Dark colours')];
  assert.deepEqual(found('dark', all), ['two', 'one']);
  assert.deepEqual(found('ark', all), []);
  assert.deepEqual(found('dark thing', all), []);
  assert.deepEqual(found(' … ', all), []);
  const many = Array.from({ length: 9 }, (_, at) => command(`c${at}`, 'Same'));
  assert.equal(found('same', many).length, 5);
});
