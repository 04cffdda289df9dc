// What the guide says of a platform, from one on which nothing was set up to a server with everything.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SetupState } from '@platform/sdk/browser';
import { setupSteps } from './setup-steps.ts';

const laptop: SetupState = {
  providers: [],
  objectStore: false,
  address: { origin: 'http://shell.platform.localhost:8787', local: true },
  registration: { mode: 'open', accounts: 1, invitations: 0 },
  machines: { total: 1, ready: 1 },
};
const server: SetupState = {
  providers: ['OpenAI', 'Ollama', 'Anthropic'],
  objectStore: true,
  address: { origin: 'https://cloud.example.org', local: false },
  registration: { mode: 'invite', accounts: 12, invitations: 2 },
  machines: { total: 3, ready: 3 },
};

const statesOf = (setup: SetupState) => setupSteps(setup).map(({ id, state }) => `${id} ${state}`);
const said = (setup: SetupState, id: string) => setupSteps(setup).find((step) => step.id === id)?.now;

test('on a new laptop people and machines are set up', () => {
  assert.deepEqual(statesOf(laptop), [
    'providers open',
    'storage open',
    'address open',
    'registration done',
    'machines done',
    'backup yours',
  ]);
  const words = 'Anyone who reaches the platform from this machine can register. There is 1 account.';
  assert.equal(said(laptop, 'registration'), words);
});

test('on a server with everything the backup alone is left, which the platform cannot know of', () => {
  assert.deepEqual(
    setupSteps(server).filter(({ state }) => state !== 'done'),
    setupSteps(server).filter(({ id }) => id === 'backup'),
  );
  assert.equal(said(server, 'providers'), 'Apps reach OpenAI, Ollama, and Anthropic.');
  assert.equal(
    said(server, 'registration'),
    'People register with an invitation. There are 12 accounts. 2 invitations not used yet.',
  );
});

test('a server that everybody may register at, and one whose machines are away, are not set up', () => {
  const open = { ...server, registration: { mode: 'open', accounts: 1, invitations: 0 } } as const;
  assert.ok(statesOf(open).includes('registration open'));
  const away = { ...server, machines: { total: 2, ready: 0 } };
  assert.ok(statesOf(away).includes('machines open'));
  assert.equal(said(away, 'machines'), '0 of 2 machines ready.');
});
