// Promises of the security rating: what raises it, for one permission and for pairs, that more never makes it better, and
// which rating the apps in this repository have.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { manifest } from './domains/packages.ts';
import { isCritical, isPermissionId, permissions } from './permissions.ts';
import {
  askedRating,
  manifestRating,
  powers,
  type RatedApp,
  type RatingReason,
  ratingScale,
  securityRating,
} from './security-rating.ts';

const ids = Object.keys(permissions).filter(isPermissionId);

/** `network.connect https://a.example, secrets.use x`: what an app holds, `*` where nothing is named. */
function holding(text: string): RatedApp['permissions'] {
  return text
    .split(', ')
    .filter((one) => one !== '')
    .map((one) => {
      const [id = '', resource = '*'] = one.split(' ');
      return { id, resources: [resource] };
    });
}

const rate = (text: string, backend: RatedApp['backend'] = null) =>
  securityRating({ permissions: holding(text), backend });

/** What an app holds, its rating, and the gravest reason. */
const CASES: readonly (readonly [string, number, string])[] = [
  ['', 5, ''],
  ['object-storage.raw self', 5, ''],
  ['notifications.publish news', 4, 'It can send you notifications.'],
  ['account.profile.read self, apps.catalog.read', 4, 'It can see which apps you have installed.'],
  ['network.connect https://a.example', 3, 'It can exchange data with outside services.'],
  ['network.connect', 2, 'It can exchange data with outside services at any address.'],
  ['network.connect https://a*', 2, 'It can exchange data with outside services at any address.'],
  ['messaging.read', 2, 'It can read your messages.'],
  [
    'messaging.read, network.connect https://a.example',
    1,
    'It can read your messages and pass on what it learns, because it can exchange data with outside services.',
  ],
  [
    'messaging.send, messaging.read',
    1,
    'It can read your messages and pass on what it learns, because it can send messages as you.',
  ],
  [
    'messaging.read, intelligence.use',
    1,
    'It can read your messages and pass on what it learns, because it can use AI models, within your budget.',
  ],
  [
    'notifications.read, intelligence.use openai:*',
    2,
    'It can read and mark your notifications and pass on what it learns, because it can use AI models, within your budget.',
  ],
  [
    'notifications.read, intelligence.use openai:*, network.public',
    1,
    'It can read and mark your notifications and pass on what it learns, because it can connect to any address on the internet.',
  ],
  ['secrets.use key, network.connect https://a.example', 3, 'It can use a secret you bind, without seeing it.'],
  [
    'endpoints.public GET:/, secrets.use key',
    1,
    'Strangers could get it to use a secret you bind, without seeing it, because it can answer requests from the internet.',
  ],
  [
    'endpoints.public.udp UDP:auto, messaging.send',
    1,
    'Strangers could get it to send messages as you, because it can open a UDP port to the internet.',
  ],
  ['endpoints.public GET:/, endpoints.public.udp UDP:auto', 2, 'It can answer requests from the internet.'],
  ['network.public, runtime.network-tunnel', 2, 'It can connect to any address on the internet.'],
  ['mcp.tools.call notes.*', 3, 'It can use tools of your other apps.'],
  ['mcp.tools.call', 2, 'It can use tools of your other apps without a limit.'],
  ['mcp.tools.call n*', 2, 'It can use tools of your other apps without a limit.'],
  [
    'notifications.read, mcp.tools.call notes.add',
    2,
    'It can read and mark your notifications and pass on what it learns, because it can use tools of your other apps.',
  ],
  [
    'mcp.tools.call, intelligence.use',
    1,
    'It can use tools of your other apps without a limit and pass on what it learns, because it can use AI models, within your budget.',
  ],
  ['wallet.fly', 1, 'It asks for “wallet.fly”, which this version of the platform does not know.'],
  ['constructor self', 1, 'It asks for “constructor”, which this version of the platform does not know.'],
];

for (const [held, rating, gravest] of CASES)
  test(`an app with ${held === '' ? 'nothing' : held} has a ${rating}`, () => {
    const found = rate(held);
    assert.equal(found.rating, rating);
    assert.equal(found.reasons[0]?.text ?? '', gravest);
  });

test('a backend that runs all the time is no 5, and an agent that acts can be misled', () => {
  const isolated = { runtime: 'node', mode: 'automatic' };
  assert.deepEqual(rate('', isolated), { rating: 5, reasons: [] });
  assert.equal(rate('', { ...isolated, mode: 'always' }).rating, 4);
  assert.equal(rate('intelligence.use', { ...isolated, runtime: 'agent' }).rating, 3);
  const acting = rate('intelligence.use, secrets.use key', { ...isolated, runtime: 'agent' });
  assert.deepEqual(
    [acting.rating, acting.reasons[0]?.text],
    [2, 'What its AI agent reads could mislead it to use a secret you bind, without seeing it.'],
  );
});

test('what a review calls powerful has no more than a 3, and a 5 names no reason', () => {
  for (const id of ids) {
    const { rating, reasons } = rate(`${id} *`);
    if (isCritical(id, '*')) assert.ok(rating <= 3, id);
    assert.equal(reasons.length === 0, rating === 5, id);
    if (reasons.length > 0) assert.ok(reasons[0]?.text.includes(permissions[id].plain), id);
  }
});

/** Rarely a permission or a runtime that nobody knows, and often one of the few that depend on their resources. */
const anyId = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(...ids) },
  { weight: 10, arbitrary: fc.constantFrom(...ids.filter((id) => powers[id].wide !== undefined)) },
  { weight: 1, arbitrary: fc.string() },
);
const anyResource = fc.oneof(
  fc.constantFrom('*', 'self', 'news', 'https://a.example', 'https://a*', 'notes.add', 'notes.*', 'n*', ''),
  fc.string(),
);
const anyGrant = fc.record({ id: anyId, resources: fc.array(anyResource, { maxLength: 3 }) });
const RUNS = { numRuns: 1_000 };
const anyBackend = fc.option(
  fc.record({
    runtime: fc.oneof(fc.constantFrom('node', 'binary', 'oci', 'agent'), fc.string()),
    mode: fc.oneof(fc.constantFrom('automatic', 'always'), fc.string()),
  }),
);
const anyApp: fc.Arbitrary<RatedApp> = fc.record({
  permissions: fc.array(anyGrant, { maxLength: 6 }),
  backend: anyBackend,
});

test('a further grant, a wider resource and a backend never make it better, nor take a single reason away', () => {
  fc.assert(
    fc.property(anyApp, anyGrant, fc.nat(), (app, more, at) => {
      const before = securityRating(app);
      const [widened = more] = app.permissions.slice(at % Math.max(1, app.permissions.length));
      const shorter = (resource: string) => `${resource.replace(/\*$/, '').slice(0, at % 5)}*`;
      for (const { permissions: granted, backend } of [
        { ...app, permissions: [...app.permissions, more] },
        { ...app, permissions: [{ ...widened, resources: widened.resources.map(shorter) }, ...app.permissions] },
        { ...app, backend: app.backend ?? { runtime: 'node', mode: 'automatic' } },
        ...(app.backend === null ? [] : [{ ...app, backend: { ...app.backend, mode: 'always' } }]),
      ]) {
        const after = securityRating({ permissions: granted, backend });
        assert.ok(after.rating <= before.rating, `${before.rating} became ${after.rating}`);
        assert.ok(after.reasons.length >= before.reasons.length);
      }
    }),
    RUNS,
  );
});

test('less, narrower and in whatever order: the same or better, and never anything but 1 to 5 with its reasons', () => {
  fc.assert(
    fc.property(
      anyApp.chain((app) =>
        fc.record({
          app: fc.constant(app),
          shuffled: fc.shuffledSubarray([...app.permissions], { minLength: app.permissions.length }),
          fewer: fc.subarray([...app.permissions]),
        }),
      ),
      ({ app, shuffled, fewer }) => {
        const found = securityRating(app);
        assert.deepEqual(securityRating({ ...app, permissions: shuffled }), found);
        const split = shuffled.flatMap(({ id, resources }) => resources.map((one) => ({ id, resources: [one] })));
        assert.deepEqual(securityRating({ ...app, permissions: split }), found);
        assert.ok(securityRating({ ...app, permissions: fewer }).rating >= found.rating);
        assert.ok(Object.hasOwn(ratingScale, found.rating));
        assert.equal(found.rating, Math.min(5, ...found.reasons.map(({ rating }: RatingReason) => rating)));
        assert.deepEqual(
          found.reasons,
          found.reasons.toSorted((one, other) => one.rating - other.rating),
        );
        assert.equal(new Set(found.reasons.map(({ text }) => text)).size, found.reasons.length);
      },
    ),
    RUNS,
  );
});

test('any two permissions together are no better than the worse of them alone', () => {
  for (const one of ids)
    for (const other of ids) {
      const both = rate(`${one} *, ${other} *`).rating;
      assert.ok(both <= Math.min(rate(`${one} *`).rating, rate(`${other} *`).rating), `${one} ${other}`);
      const worse = powers[one].reads && powers[other].carries && one !== other;
      if (worse) assert.ok(both < Math.min(rate(`${one} *`).rating, rate(`${other} *`).rating), `${one} ${other}`);
    }
});

/** Every app that comes with the platform, and every example, with all that it asks for. */
const APPS = {
  'apps/agent': 2,
  'apps/contacts': 1,
  'apps/files': 2,
  'apps/fleet': 2,
  'apps/launcher': 3,
  'apps/messages': 1,
  'apps/notifications': 3,
  'apps/schedules': 3,
  'apps/settings': 5,
  'apps/store': 4,
  'apps/wallet': 3,
  'examples/chat': 3,
  'examples/chat-room': 2,
  'examples/diary': 5,
  'examples/herald': 2,
  'examples/notes': 4,
  'examples/notes-python': 4,
  'examples/order': 3,
  'examples/photo-box': 5,
  'examples/reading-list': 4,
  'examples/repo-issues': 3,
  'examples/shopping-list': 3,
  'examples/tool-bench': 3,
  'examples/udp-echo': 2,
  'examples/webhooks': 2,
};

test('the apps that come with the platform and the examples have these ratings', () => {
  const cwd = path.join(import.meta.dirname, '../../..');
  const found = globSync('{apps,examples}/*/manifest.json', { cwd }).map((file) => {
    const read = manifest.parse(JSON.parse(readFileSync(path.join(cwd, file), 'utf8')));
    return [path.dirname(file), manifestRating(read).rating];
  });
  assert.deepEqual(Object.fromEntries(found.toSorted()), APPS);
});

test('the catalog and the manifest give the same rating; a route that is not declared opens nothing', () => {
  const asked = [{ id: 'endpoints.public', resources: ['*'] }] as const;
  const requested = asked.map(({ id, resources }) => ({ id, resources: [...resources] }));
  const backend = { runtime: 'node', processor: null } as const;
  const resources = { mode: 'always', idleSeconds: 300, memoryMiB: 64, cpus: 1, pids: 64, diskMiB: 0 } as const;
  for (const [publicEndpoints, rating] of [
    [['GET:/'], 2],
    [[], 4],
  ] as const) {
    const described = { permissions: requested, publicRoutes: [...publicEndpoints], backend, resources };
    const read = manifestRating({
      permissions: requested,
      publicEndpoints: [...publicEndpoints],
      workload: { runtime: 'node', mode: 'always' },
    });
    assert.equal(read.rating, rating);
    assert.deepEqual(askedRating(described), read);
  }
});
