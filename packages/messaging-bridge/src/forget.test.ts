// Accounts that core has deleted: nothing of them stays, at the homeserver and here.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { invitation, Raw } from '../test-support/fake-homeserver.ts';
import { failsWith, type HostileWorld, startHostileWorld } from '../test-support/hostile-world.ts';

let world: HostileWorld;
beforeEach(async () => {
  world = await startHostileWorld();
});
afterEach(() => world.close());

test('an account that is forgotten is no more at the homeserver and here, and no call makes it anew', async () => {
  const { homeserver, ada, zoe } = world;
  await world.openConversation();
  await world.deliver(invitation('!yan', ada.userId, '@yan:elsewhere.test'));
  const waiting = ada.ask('sync', {
    cursor: (await ada.ask('sync', { timeoutMs: 0, limit: 1 })).cursor,
    timeoutMs: 30_000,
    limit: 1,
  });
  // Refused once it has been forgotten.
  const refused = assert.rejects(waiting);
  await ada.ask('forget', {});
  const deactivations = () =>
    homeserver.calls.filter(({ path, userId }) => path === '/account/deactivate' && userId === ada.userId).length;
  assert.equal(deactivations(), 1);
  assert.deepEqual(await world.folders(), []);
  const registrations = () => homeserver.calls.filter(({ path }) => path === '/register').length;
  const before = registrations();
  for (const attempt of [
    ada.ask('identity', {}),
    ada.ask('conversations', { limit: 1 }),
    ada.ask('direct', { to: zoe.userId }),
  ])
    await assert.rejects(attempt, failsWith('not_found'));
  assert.equal(registrations(), before);
  await world.ring();
  // As often as core likes.
  await ada.ask('forget', {});
  assert.equal(deactivations(), 2);
  await refused;
});

test('an account is forgotten by its own id alone, and one that is not known as well', async () => {
  const { ada } = world;
  await assert.rejects(world.person('ada', 'another').ask('forget', {}), failsWith('conflict'));
  await world.person('nobody').ask('forget', {});
  assert.equal((await ada.ask('identity', {})).identity.transportUserId, ada.userId);
});

test('a homeserver that does not end the account has it asked again, and keeps the store until then', async () => {
  const { homeserver, ada } = world;
  const failing = homeserver.instead(/^\/account\/deactivate$/, () => new Raw(502, '<html>'));
  await assert.rejects(ada.ask('forget', {}), failsWith('unavailable'));
  assert.equal((await world.folders()).length, 1);
  failing();
  await ada.ask('forget', {});
  assert.equal((await world.folders()).length, 0);
});

/** A refusal in the standard form. */
const refusal = (status: number, errcode: string) => () => new Raw(status, JSON.stringify({ errcode, error: 'no' }));

test('only an account that the homeserver does not have is as good as ended: every other refusal is one', async () => {
  const { homeserver, ada } = world;
  for (const [status, code] of [
    [403, 'M_FORBIDDEN'],
    [403, 'M_USER_SUSPENDED'],
    [403, 'M_RESOURCE_LIMIT_EXCEEDED'],
    [404, 'M_UNRECOGNIZED'],
    [404, 'M_NOT_FOUND'],
    [401, 'M_UNKNOWN_TOKEN'],
  ] as const) {
    const restore = homeserver.instead(/^\/account\/deactivate$/, refusal(status, code));
    await assert.rejects(ada.ask('forget', {}), failsWith('unavailable'), code);
    restore();
  }
  homeserver.instead(/^\/account\/deactivate$/, refusal(403, 'M_FORBIDDEN'));
  const restore = homeserver.instead(/^\/profile\//, refusal(502, 'M_UNKNOWN'));
  await assert.rejects(ada.ask('forget', {}), failsWith('unavailable'));
  restore();
  assert.equal((await world.folders()).length, 1);
  homeserver.instead(/^\/profile\//, refusal(404, 'M_NOT_FOUND'));
  await ada.ask('forget', {});
  assert.deepEqual(await world.folders(), []);
});
