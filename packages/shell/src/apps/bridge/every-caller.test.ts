// Walks the table of the bridge with every kind of caller: each method works for the callers it declares, and refuses
// all others without side effects. methods.test.ts proves that the declarations are right.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { MessageChannel } from 'node:worker_threads';
import { type AskingBridgeCall, type BridgeCall, type ErrorCode, type Grant, permissions } from '@platform/contract';
import { call, type World, world } from '../../../test-support/methods-world.ts';
import { allSamples } from '../../../test-support/samples-of.ts';
import type { Method, Only, Params } from './method.ts';
import { fileMethods } from './methods/files.ts';
import { mcpMethods } from './methods/mcp.ts';
import { recipientMethods } from './methods/recipient.ts';
import { walletMethods } from './methods/wallet.ts';
import { methods as firstMethods } from './methods.ts';
import type { Reader } from './params.ts';
import { type Port, servePort } from './port-session.ts';

const samples = await allSamples();

/** Methods that every app may call. A method that requires nothing needs an entry here. */
const openToAll: readonly string[] = [
  'context.get {}',
  'state.get {}',
  ...samples['state.set'].map((params) => `state.set ${JSON.stringify(params)}`),
  'place.set {"place":"/notes/1?page=2#end"}',
  'chrome.set {"title":"Chapter 2"}',
  'links.open {"url":"https://example.org/page"}',
  'downloads.save {"file":{},"name":"list.csv"}',
  'contacts.pick {}',
  'files.pick {}',
  'files.pick {"access":"write"}',
  'files.save {"name":"report.txt"}',
  'recipient.status {}',
  'recipient.seal {"plaintext":"aGVsbG8"}',
  'recipient.open {"sealed":"AQAA"}',
  'search.open {}',
  'intelligence.usage {}',
  // Core decides with the app's own grants.
  ...(['mcp.listTools', 'mcp.callTool', 'mcp.proposeTool', 'mcp.proposalState', 'mcp.reviewProposal'] as const).flatMap(
    (name) => samples[name].map((params) => `${name} ${JSON.stringify(params)}`),
  ),
];

const methods: { readonly [Name in BridgeCall]: Method<Name> } = {
  ...firstMethods,
  ...fileMethods,
  ...mcpMethods,
  ...recipientMethods,
  ...walletMethods,
};

const asking: Readonly<Record<AskingBridgeCall, true>> = {
  'apps.create': true,
  'apps.requestInstall': true,
  'apps.uninstall': true,
  'apps.withdraw': true,
  'contacts.pick': true,
  'downloads.save': true,
  'files.pick': true,
  'files.save': true,
  'links.open': true,
  'mcp.reviewProposal': true,
  'runtime.pause': true,
  'system.changeAccount': true,
  'system.invite': true,
  'system.uninvite': true,
  'wallet.export': true,
  'wallet.proposePayment': true,
  'wallet.proposePolicy': true,
  'wallet.review': true,
};

const everything: Grant[] = Object.keys(permissions).map((id) => ({ id: id as Grant['id'], resources: ['*'] }));

async function refused(state: World, name: BridgeCall, sent: unknown, code: ErrorCode): Promise<void> {
  const words = code === 'invalid_request' ? { message: /^`\w+` (?:must be |has an unknown member )\S.*\.$/ } : {};
  await assert.rejects(call(state, name, sent), { name: 'BridgeRefusal', code, ...words });
  assert.deepEqual([...state.done, ...state.asked], [], 'a refused call does nothing and shows no prompt');
}

/** An empty list, nothing marked, or as if the one thing it names were not there. */
async function showsNothing(state: World, name: BridgeCall, sent: unknown): Promise<void> {
  const outcome = await call(state, name, sent).catch(({ code }: { code: unknown }) => code);
  const nothing = [
    { items: [] },
    { items: [], nextCursor: null },
    { items: [], nextCursor: '1' },
    { updated: 0 },
    'not_found',
  ];
  assert.ok(
    nothing.some((each) => isDeepStrictEqual(outcome, each)),
    JSON.stringify(outcome),
  );
  assert.deepEqual(state.done, []);
}

function isRequired(read: (value: unknown, name: string) => unknown): boolean {
  try {
    read(undefined, 'value');
    return false;
  } catch {
    return true;
  }
}

/** A caller of which only this is true. */
function oneOf(only: Only | undefined): Partial<World> {
  if (only === 'home') return { isHome: true };
  return only === undefined ? {} : { isSystem: true, ...(only[0] === undefined ? {} : { appId: only[0] }) };
}

function walk<Name extends BridgeCall>(name: Name): void {
  for (const params of samples[name] ?? []) walkCall(name, methods[name], params);
}

function walkCall<Name extends BridgeCall>(name: Name, method: Method<Name>, params: Params<Name>): void {
  const label = `${name} ${JSON.stringify(params)}`;
  const only = typeof method.only === 'function' ? method.only(params) : method.only;
  const front = typeof method.front === 'function' ? method.front(params) : method.front;
  const grant = typeof method.grant === 'function' ? method.grant(params) : method.grant;
  const appId = oneOf(only).appId ?? 'asker';
  const caller = { appId, isHome: () => true, isInFront: () => true, isSystemApp: () => true };
  const named = typeof method.target === 'function' ? method.target(params, caller) : method.target;
  /** `undefined` where any resource will do. */
  const target = method.target === 'any' ? undefined : named;
  const needsInstalled = method.installed?.(params) !== undefined;

  const granted = (resources: string[]): Grant[] => (grant === undefined ? [] : [{ id: grant, resources }]);
  const rightful = (change: Partial<World> = {}) =>
    world({ grants: granted([target ?? '*']), ...oneOf(only), ...change });

  test(`${label} is answered to those it is for`, async () => {
    for (const approves of [true, false]) {
      const state = rightful({ approves });
      assert.notEqual(await call(state, name, params), undefined);
      assert.deepEqual(state.asked, method.asks === undefined ? [] : [appId]);
    }
  });

  if (grant === undefined) {
    test(`${label} needs no grant, since it is ${only === undefined ? 'for every app' : 'only for some'}`, () =>
      assert.equal(openToAll.includes(label), only === undefined));
  } else {
    test(`${label} is refused without ${grant}, whatever else the app holds and is`, async () => {
      const others = everything.filter(({ id }) => id !== grant);
      for (const grants of [[], others, [...others, ...granted([])]]) {
        await refused(rightful({ grants }), name, params, 'grant_missing');
        await refused(rightful({ grants, isSystem: true, isHome: true }), name, params, 'grant_missing');
      }
    });
    test(`${label} is answered with a wildcard that covers it`, async () => {
      await call(rightful({ grants: granted(['*']) }), name, params);
      if (target === undefined || target === '*') return;
      await call(rightful({ grants: granted([`${target.slice(0, 1)}*`]) }), name, params);
    });
    test(`${label} is refused, or shows nothing, with ${grant} on something else`, async () => {
      const near = target ?? 'zzz';
      for (const other of [`${near}x`, near.slice(0, -1), `${near}x*`, 'zz*', 'elsewhere', '']) {
        const state = rightful({ grants: granted([other]) });
        if (target === undefined) await showsNothing(state, name, params);
        else await refused(state, name, params, 'grant_missing');
      }
    });
  }

  test(`${label} is ${front ? 'refused' : 'answered'} when the app is in the background`, async () => {
    const state = rightful({ inFront: false });
    if (front) await refused(state, name, params, 'not_authorized');
    else await call(state, name, params);
  });

  for (const [moment, matters] of [
    ['grants', front && grant !== undefined],
    ['apps', front && needsInstalled],
  ] as const) {
    if (!matters) continue;
    test(`${label} is refused when the person turns away while the ${moment} are read`, async () => {
      const state = rightful();
      const value = state[moment];
      Object.defineProperty(state, moment, {
        get() {
          state.inFront = false;
          return value;
        },
      });
      await refused(state, name, params, 'not_authorized');
    });
  }

  if (only !== undefined) {
    test(`${label} is refused to apps that it is not for, whatever they hold`, async () => {
      const impostors =
        only === 'home'
          ? [{ isHome: false }, { isHome: false, isSystem: true, appId: 'settings' }]
          : [{ isSystem: false }, { appId: 'asker' }, { appId: 'launcher', isHome: true }];
      for (const impostor of impostors) {
        await refused(rightful({ grants: everything, ...impostor }), name, params, 'not_authorized');
        await refused(rightful({ grants: everything, apps: [], ...impostor }), name, params, 'not_authorized');
      }
    });
  }

  if (needsInstalled) {
    test(`${label} finds no app that is not installed`, () =>
      refused(rightful({ apps: [] }), name, params, 'not_found'));
  }

  test(`${label} takes its own parameters and no others`, async () => {
    const wrong: unknown[] = ['text', 42, true, [params], new Map([['appId', 'notes']])];
    for (const extra of ['extra', 'constructor', 'caller']) wrong.push({ ...params, [extra]: 'x' });
    wrong.push(JSON.parse('{"__proto__":{"appId":"notes"}}'));
    for (const [key, read] of Object.entries<Reader<unknown>>(method.params)) {
      const given = Object.entries(params ?? {}).find(([name]) => name === key)?.[1];
      const isObject = key === 'arguments' || key === 'amount';
      for (const value of [
        null,
        isObject ? new Map() : {},
        Array.isArray(given) ? ['A'] : [],
        0.5,
        '\u0000',
        // Also where any letters are fine.
        'x '.repeat(5_000),
      ])
        wrong.push({ ...params, [key]: value });
      if (isRequired(read)) wrong.push({ ...params, [key]: undefined });
    }
    for (const sent of wrong) await refused(rightful(), name, sent, 'invalid_request');
  });
}

test('there is a sample of every method', () => {
  const called = Object.entries(samples).filter(([, calls]) => calls.length > 0);
  assert.deepEqual(called.map(([name]) => name).sort(), Object.keys(methods).sort());
});

for (const name of Object.keys(methods) as BridgeCall[]) walk(name);

test('the methods that ask a person are those the contract says wait for one', () => {
  const those = Object.entries(methods).filter(([, method]) => 'asks' in method);
  assert.deepEqual(those.map(([name]) => name).sort(), Object.keys(asking).sort());
});

test('a frame that was closed is answered nothing, whatever it may call', async () => {
  const state = world({ grants: everything, isSystem: true, isHome: true });
  const { port1, port2 } = new MessageChannel();
  const closed = once(port2, 'close');
  const session = servePort({
    // Node's port has everything the session uses; only its event types are named otherwise.
    port: port1 as unknown as Port,
    answer: (method, params) => call(state, method, params),
    now: () => 0,
    onFlood: () => assert.fail('nothing was flooded'),
    onBug: (error) => assert.fail(String(error)),
  });
  session.close();
  for (const [id, [method, [params]]] of Object.entries(samples).entries()) port2.postMessage({ id, method, params });
  await closed;
  assert.deepEqual(state.done, []);
});
