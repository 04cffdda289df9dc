import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { psCommand } from '../apps/ps.ts';
import { commands } from '../commands.ts';
import { nodeCommand } from '../node/node.ts';
import { SHELLS, scriptFor } from './scripts.ts';
import { type CommandWords, wordsOf } from './words.ts';

const run = promisify(execFile);

async function all(): Promise<CommandWords[]> {
  return Promise.all(Object.entries(commands).map(async ([name, load]) => ({ name, ...wordsOf(name, await load()) })));
}

/** What bash offers for the last of these words. */
async function offered(...words: string[]): Promise<string[]> {
  const line = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _platform; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await run('bash', ['-c', `${scriptFor('bash', await all())}\n${line}`]);
  return stdout.split('\n').filter((word) => word !== '');
}

test('bash completes commands, actions and options', async () => {
  assert.deepEqual(await offered('./platform', 'inv'), []);
  assert.deepEqual(await offered('./platform', 'acc'), ['account']);
  assert.deepEqual(await offered('platform', 'help', 'ingr'), ['ingress']);
  assert.deepEqual(await offered('platform', 'account', 'invi'), ['invite', 'invitations']);
  assert.deepEqual(await offered('platform', 'node', 'un'), ['uncordon', 'unlabel', 'unreserve']);
  assert.deepEqual(await offered('platform', 'ps', '--st'), ['--state']);
  assert.deepEqual(await offered('platform', 'nonsense', ''), []);
});

test('words are those of the usage', () => {
  assert.deepEqual(wordsOf('ps', psCommand).options, ['--help', '--json', '--node', '--state']);
  assert.deepEqual(wordsOf('ps', psCommand).actions, []);
  for (const action of ['token', 'list', 'release', 'rules', 'join', 'start'])
    assert.ok(wordsOf('node', nodeCommand).actions.includes(action), action);
});

test('every action that a command takes is completed', async () => {
  for (const { name, actions } of await all()) {
    const command = await commands[name as keyof typeof commands]();
    if (!command.usage.includes('<action>')) continue;
    const refused = await command.run(['no-such-action']).catch((error: Error) => error.message);
    const named = /^(?:There is no action .*\. )?Name (?:an|one) action: (?<all>.*)\.$/.exec(String(refused))?.groups
      ?.all;
    for (const action of named?.split(', ') ?? []) assert.ok(actions.includes(action), `${name} ${action}`);
  }
});

test('each shell gets every command', async () => {
  const words = await all();
  for (const shell of SHELLS) for (const { name } of words) assert.ok(scriptFor(shell, words).includes(name), name);
});
