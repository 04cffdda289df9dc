// What a signal makes the cache forget, and that it looks at the entries of its account only.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { type AuthorCaller, authorCaller } from '../../accounts/author-tokens/author-caller.ts';
import { type SessionCaller, sessionCaller } from '../../accounts/sessions/session-caller.ts';
import type { CoreContext } from '../../context.ts';
import type { Signals } from '../../database/signals.ts';
import { type FrontendCaller, frontendCaller } from '../../installations/frontend-caller.ts';
import { type InstallationCaller, installationCaller } from '../../installations/installation-caller.ts';
import { type NodeCaller, nodeCaller } from '../../nodes/node-caller.ts';
import type { Caller } from '../caller.ts';
import { IdentityCache } from './identity-cache.ts';

const now = new Date();
/** Nothing is looked up with it here. */
const context = {} as CoreContext;
const schemes = [sessionCaller, frontendCaller, installationCaller, authorCaller, nodeCaller].map((make) =>
  make(context),
);

/** As `Signals`, without a database. */
class TestSignals extends EventEmitter {
  connected = true;
  onReset(listener: () => void): void {
    this.on('reset', listener);
  }
}

function openCache(): { cache: IdentityCache; signals: TestSignals } {
  const signals = new TestSignals();
  return { cache: new IdentityCache(signals as unknown as Signals, () => now, schemes), signals };
}

function session(accountKey: string, sessionId: string): SessionCaller {
  return {
    kind: 'session',
    accountKey,
    sessionId,
    accountName: 'x',
    accountCreatedAt: now,
    deletesAt: null,
    createdAt: now,
    expiresAt: now,
  };
}

function frontend(accountKey: string, installationId: string, sessionId: string): FrontendCaller {
  const rest = { accountName: 'x', appId: 'x', grants: [], paused: false, origin: '', expiresAt: now } as const;
  return {
    kind: 'frontend',
    accountKey,
    installationId: installationId as FrontendCaller['installationId'],
    sessionId,
    ...rest,
  };
}

function installation(accountKey: string, installationId: string): InstallationCaller {
  const {
    kind: _kind,
    sessionId: _session,
    origin: _origin,
    expiresAt: _end,
    ...identity
  } = frontend(accountKey, installationId, '');
  return { kind: 'installation', ...identity, epoch: 1, envelopeKey: null, nodeKey: null };
}

function author(accountKey: string, tokenId: string): AuthorCaller {
  return { kind: 'author', accountKey, tokenId, accountName: 'x', machine: 'x', expiresAt: now };
}

const node: NodeCaller = {
  kind: 'node',
  nodeId: 'node-1',
  publicKey: null,
  credentialHash: Buffer.alloc(32),
  expiresAt: now,
};

async function keep(cache: IdentityCache, callers: Readonly<Record<string, Caller>>): Promise<void> {
  for (const [name, caller] of Object.entries(callers))
    await cache.find(Buffer.from(name), () => Promise.resolve(caller));
}

/** The names of those that are still known. */
async function known(cache: IdentityCache, names: readonly string[]): Promise<string[]> {
  const found = names.map(async (name) =>
    (await cache.find(Buffer.from(name), async () => null)) === null ? [] : [name],
  );
  return (await Promise.all(found)).flat();
}

const all = {
  session: session('anna', 's1'),
  other: session('anna', 's2'),
  notes: frontend('anna', 'inst-1', 's1'),
  mail: frontend('anna', 'inst-2', 's2'),
  work: installation('anna', 'inst-1'),
  token: author('anna', 'tok-1'),
  otherToken: author('anna', 'tok-2'),
  bert: frontend('bert', 'inst-3', 's3'),
  node,
} satisfies Record<string, Caller>;
const names = Object.keys(all);

const signalled: readonly (readonly [signal: string, data: object, forgotten: readonly string[]])[] = [
  ['installation-changed', { accountKey: 'anna', installationId: 'inst-1' }, ['notes', 'work']],
  ['credential-replaced', { installationId: 'inst-1' }, ['work']],
  ['session-ended', { accountKey: 'anna', sessionId: 's1' }, ['session', 'notes']],
  ['session-ended', { accountKey: 'anna', sessionId: null }, ['session', 'other', 'notes', 'mail']],
  ['author-token-ended', { accountKey: 'anna', tokenId: 'tok-2' }, ['otherToken']],
  ['pause-changed', { accountKey: 'anna' }, names.filter((name) => !['bert', 'node'].includes(name))],
  ['node-credential-replaced', { nodeId: 'node-2' }, []],
  ['node-credential-replaced', { nodeId: 'node-1' }, ['node']],
  ['reset', {}, names],
];
for (const [signal, data, forgotten] of signalled) {
  test(`${signal} ${JSON.stringify(data)} makes it forget ${forgotten.join(', ') || 'nobody'}`, async () => {
    const { cache, signals } = openCache();
    await keep(cache, all);
    assert.deepEqual(await known(cache, names), names);
    signals.emit(signal, data);
    assert.deepEqual(
      await known(cache, names),
      names.filter((name) => !forgotten.includes(name)),
    );
  });
}

test('a signal about one account costs no look at the callers of others', async () => {
  const { cache, signals } = openCache();
  let looks = 0;
  const watched = (caller: Caller) =>
    new Proxy(caller, {
      get: (target, name) => {
        looks += 1;
        return Reflect.get(target, name);
      },
      has: (target, name) => {
        looks += 1;
        return Reflect.has(target, name);
      },
    });
  await keep(
    cache,
    Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`${n}`, watched(session(`acct-${n}`, 's'))])),
  );
  await keep(cache, { own: session('anna', 's1') });
  looks = 0;
  signals.emit('session-ended', { accountKey: 'anna', sessionId: 's1' });
  signals.emit('installation-changed', { accountKey: 'anna', installationId: 'inst-1' });
  assert.equal(looks, 0);
  assert.deepEqual(await known(cache, ['own', '7']), ['7']);
});

test('what was kept under a clock that was ahead is looked up anew once it is set back', async () => {
  let time = now.getTime() + 86_400_000;
  const cache = new IdentityCache(new TestSignals() as unknown as Signals, () => new Date(time), schemes);
  await keep(cache, { session: all.session });
  assert.deepEqual(await known(cache, ['session']), ['session']);
  time = now.getTime();
  assert.deepEqual(await known(cache, ['session']), []);
});
