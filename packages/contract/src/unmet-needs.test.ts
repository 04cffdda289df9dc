// What of an app cannot work is decided from what the platform offers: each need alone, with what an operator does about it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { configurationVariables } from './configuration.ts';
import type { Offers } from './domains/offers.ts';
import { type AppNeeds, unmetNeeds } from './unmet-needs.ts';

const machine: Offers['machines'][number] = {
  runtimes: ['node', 'binary', 'oci'],
  processor: 'x64',
  memoryMiB: 4_096,
  cpus: 4,
  diskMiB: 10_240,
  gives: ['udp', 'tunnel', 'internet'],
};
const all: Offers = {
  operator: false,
  backends: 'open',
  paused: false,
  machines: [machine],
  diskBytes: 20 * 2 ** 30,
  memoryPercent: 50,
  udpPorts: 8,
  ai: [{ provider: 'local', name: 'Local', ready: true }],
  objectStorage: 'offered',
  publicAddress: 'offered',
};
const backend: AppNeeds = {
  permissions: [],
  backend: { runtime: 'node', processor: null },
  publicRoutes: [],
  resources: { mode: 'automatic', idleSeconds: 300, memoryMiB: 512, diskMiB: 1_024, cpus: 1, pids: 64 },
};
const onlyPages: AppNeeds = { permissions: [], backend: null, publicRoutes: [], resources: null };

type Permissions = AppNeeds['permissions'];
const asking = (...permissions: Permissions): AppNeeds => ({ ...backend, permissions });
const using = (more: Partial<NonNullable<AppNeeds['resources']>>): AppNeeds =>
  backend.resources === null ? backend : { ...backend, resources: { ...backend.resources, ...more } };
const having = (more: Partial<typeof machine>): Partial<Offers> => ({ machines: [{ ...machine, ...more }] });

const open: AppNeeds = {
  ...asking({ id: 'endpoints.public', resources: ['GET:/'] }),
  publicRoutes: ['GET:/'],
};
const image: AppNeeds = { ...backend, backend: { runtime: 'oci', processor: null } };
const compiled: AppNeeds = { ...backend, backend: { runtime: 'binary', processor: 'arm64' } };
const udp = (ports: number) =>
  asking({ id: 'endpoints.public.udp', resources: Array.from({ length: ports }, (_, port) => `UDP:${4_000 + port}`) });

/** By what it is: the app, what the platform has not, and what is said. */
const cases: Record<string, [AppNeeds, Partial<Offers>, 'blocks' | 'lacks', RegExp]> = {
  'no machine': [backend, { backends: 'none', machines: [] }, 'blocks', /no machine that runs backends/],
  'no machine that takes any': [
    backend,
    { backends: 'closed', machines: [] },
    'blocks',
    /no machine takes new backends/,
  ],
  'a paused account': [backend, { paused: true }, 'lacks', /paused/],
  'a container image': [image, having({ runtimes: ['node'] }), 'blocks', /container image/],
  'another processor': [compiled, {}, 'blocks', /compiled for aarch64/],
  memory: [using({ memoryMiB: 8_192 }), {}, 'blocks', /8 GiB of memory.*4 GiB/],
  'memory of one account': [using({ mode: 'always', memoryMiB: 3_072 }), {}, 'blocks', /all the time.*one account/],
  processors: [using({ cpus: 8 }), {}, 'lacks', /8 processors.*has 4/],
  'disk of the machines': [using({ diskMiB: 15_360 }), {}, 'blocks', /15 GiB of data.*10 GiB/],
  'disk of the account': [using({ diskMiB: 2_048 }), { diskBytes: 2 ** 30 }, 'blocks', /1 GiB of your storage/],
  'an AI provider': [asking({ id: 'intelligence.use', resources: ['*'] }), { ai: [] }, 'lacks', /no AI provider/],
  'that AI provider': [asking({ id: 'intelligence.use', resources: ['openai:*'] }), {}, 'lacks', /“openai”/],
  'a key': [
    asking({ id: 'intelligence.use', resources: ['local:*'] }),
    { ai: [{ provider: 'local', name: 'Local', ready: false }] },
    'lacks',
    /no key for Local/,
  ],
  'an object store': [
    asking({ id: 'object-storage.raw', resources: ['self'] }),
    { objectStorage: 'none' },
    'lacks',
    /has none/,
  ],
  'a plan': [
    asking({ id: 'object-storage.raw', resources: ['self'] }),
    { objectStorage: 'plan' },
    'lacks',
    /your plan/,
  ],
  'addresses for apps': [open, { publicAddress: 'none' }, 'lacks', /no addresses for apps/],
  'a name on the internet': [open, { publicAddress: 'local' }, 'lacks', /this machine only/],
  'UDP ports': [udp(1), having({ gives: ['tunnel', 'internet'] }), 'lacks', /UDP ports/],
  'so many UDP ports': [udp(9), {}, 'blocks', /wants 9 UDP ports.*may have 8/],
  'a tunnel device': [
    asking({ id: 'runtime.network-tunnel', resources: ['*'] }),
    having({ gives: [] }),
    'lacks',
    /tunnel/,
  ],
  'the internet': [asking({ id: 'network.public', resources: ['*'] }), having({ gives: [] }), 'lacks', /any address/],
};

describe('an app is told to lack', () => {
  for (const [what, [app, change, kind, words]] of Object.entries(cases))
    test(what, () => {
      assert.deepEqual(
        unmetNeeds(app, { ...all, ...change }).map((need) => need.kind),
        [kind],
      );
      const [need] = unmetNeeds(app, { ...all, ...change });
      assert.match(need?.text ?? '', words);
      assert.match(need?.next ?? '', /\.$/);
      assert.equal(need?.command, undefined, 'commands are the operator’s');
      const [told] = unmetNeeds(app, { ...all, ...change, operator: true });
      assert.equal(told?.text, need?.text);
      if (need?.next === 'The operator of this platform can change that.') assert.notEqual(told?.next, need.next);
    });

  test('everything that it lacks, what keeps it from being installed first', () => {
    const app = { ...udp(1), resources: using({ memoryMiB: 8_192 }).resources };
    const needs = unmetNeeds(app, { ...all, ...having({ gives: [] }), ai: [] });
    assert.deepEqual(
      needs.map(({ kind }) => kind),
      ['blocks', 'lacks'],
    );
  });
});

describe('an app is told to lack nothing', () => {
  const everything = asking(
    { id: 'intelligence.use', resources: ['*'] },
    { id: 'object-storage.raw', resources: ['self'] },
    { id: 'runtime.network-tunnel', resources: ['*'] },
    { id: 'network.public', resources: ['*'] },
  );
  test('where the platform has it', () => {
    for (const app of [backend, image, everything, open, udp(8)]) assert.deepEqual(unmetNeeds(app, all), []);
  });
  test('where nobody knows what the machines have', () => {
    const unknown = having({ memoryMiB: null, cpus: null, diskMiB: null, gives: null, processor: null });
    for (const app of [everything, using({ memoryMiB: 10_000, cpus: 64, diskMiB: 20_480 }), udp(1), compiled])
      assert.deepEqual(unmetNeeds(app, { ...all, ...unknown }), []);
  });
  test('that only a backend needs, when it has none', () => {
    const bare: Offers = { ...all, backends: 'none', machines: [], paused: true };
    assert.deepEqual(unmetNeeds(onlyPages, bare), []);
  });
});

test('what the operator is told to do exists', () => {
  const root = `${import.meta.dirname}/../../..`;
  for (const [what, [app, change]] of Object.entries(cases)) {
    const [{ next = '', command = '' } = {}] = unmetNeeds(app, { ...all, ...change, operator: true });
    const [, file, heading] = /(docs\/[\w/]+\.md)(?:, “([^”]+)”)?/.exec(next) ?? [];
    if (file !== undefined) {
      const text = readFileSync(`${root}/${file}`, 'utf8');
      if (heading !== undefined) assert.match(text, new RegExp(`^#+ ${heading}$`, 'm'), what);
    }
    const [variable] = /^PLATFORM_\w+/.exec(command) ?? [];
    if (variable !== undefined) assert.ok(variable in configurationVariables, `${what}: ${variable}`);
    const [, name] = /^\.\/platform (\w+)/.exec(command) ?? [];
    if (name !== undefined)
      assert.match(readFileSync(`${root}/packages/cli/src/commands.ts`, 'utf8'), new RegExp(`^ {2}${name}:`, 'm'));
    assert.equal(command === '' || variable !== undefined || name !== undefined, true, `${what}: ${command}`);
  }
});
