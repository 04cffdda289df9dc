// The steps of the stories in draft-cases.json, as requests to a real core.
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { InstalledApp, MadeDraft, PermissionsView } from '@platform/contract';
import { accept, appFiles, DRAFTS, handIn, MAKES, makeApp } from '../../packages/core/test-support/made-apps.ts';
import type { TestAccount } from '../support/client.ts';
import type { Constellation } from '../support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../support/installed-app.ts';
import { buildTestPackage, testManifest } from '../support/packages.ts';
import { problemCode, type RawAnswer, rawRequest } from '../support/raw-http.ts';

export interface Given {
  readonly app?: string;
  readonly by?: string;
  readonly person?: 'ada' | 'ben';
  readonly draft?: number;
  readonly hash?: number | string;
  readonly files?: Readonly<Record<string, string | null>>;
  readonly manifest?: Readonly<Record<string, unknown>>;
  readonly permissions?: readonly unknown[];
  readonly version?: string;
  readonly visibility?: string;
  readonly path?: string;
  readonly offset?: number;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly host?: string;
  readonly days?: number;
  readonly count?: number;
  readonly error?: Readonly<Record<string, unknown>>;
}
export type Step = readonly [verb: string, given: Given, outcome: string];

export interface DraftStage {
  /** @returns `ok`, the code of the refusal, or what the verb says */
  take(verb: string, given: Given): Promise<string>;
}

interface StageParts {
  readonly world: Constellation;
  readonly people: Readonly<Record<'ada' | 'ben', TestAccount>>;
  readonly time: { ahead: number };
  /** Of the app that the story is about; every other one has it in front. */
  readonly id: string;
}

const SHARED = ['launcher', 'settings', 'store', 'wallet', 'agent', 'platform-helper', 'nothing-of-the-kind'];
const DAY = 86_400_000;
const outcomeOf = (answer: RawAnswer) => (answer.status < 300 ? 'ok' : problemCode(answer));

export function stageOf({ world, people, time, id }: StageParts): DraftStage {
  const makers = new Map<string, InstalledTestApp>();
  const drafts: MadeDraft[] = [];
  let previewed = '';
  let kept = '';

  const appOf = (name: string | undefined) =>
    name === undefined ? id : SHARED.includes(name) ? name : `${id}-${name}`;
  const personOf = ({ person = 'ada' }: Given) => people[person];

  async function makerOf({ by = 'maker' }: Given): Promise<InstalledTestApp> {
    const found =
      makers.get(by) ?? (await installTestApp(world, people[by === 'foreign' ? 'ben' : 'ada'], appOf(by), [MAKES]));
    makers.set(by, found);
    return found;
  }

  const draftOf = ({ draft = 1 }: Given) => drafts[draft - 1] ?? assert.fail(`no draft ${draft}`);
  function hashOf(given: Given): string {
    const { hash = given.draft ?? 1 } = given;
    if (hash === 'UPPER') return draftOf(given).hash.toUpperCase();
    return typeof hash === 'number' ? (drafts[hash - 1]?.hash ?? '') : hash;
  }

  /** As JSON, so that `null` takes a member away. */
  const without = <Value>(all: Readonly<Record<string, Value | null>>) =>
    Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null)) as Record<string, Value>;

  async function service(given: Given, rest: string, method = 'GET', body?: unknown): Promise<RawAnswer> {
    const maker = await makerOf(given);
    return maker.call(`/v1/services/apps/${appOf(given.app)}${rest}`, { method, body });
  }

  function load(origin: string, { path = '/', method = 'GET', headers = {}, host }: Given): Promise<RawAnswer> {
    const named = new URL(origin).host;
    const asked = host === undefined ? named : named.replace(/^.*?--/, `${host}--`);
    return rawRequest({ port: world.port, method, path, headers: { host: asked, ...headers } });
  }

  const verbs: Readonly<Record<string, (given: Given) => Promise<string>>> = {
    async 'hand in'(given) {
      const appId = appOf(given.app);
      const files = without({ ...appFiles(appId, without(given.manifest ?? {})), ...given.files });
      if (given.manifest?.frontend === null)
        files['manifest.json'] = JSON.stringify(without({ ...testManifest(appId), ...given.manifest }));
      const answer = await handIn(await makerOf(given), appId, files);
      if (answer.status === 201) drafts.push((answer.json as { draft: MadeDraft }).draft);
      return outcomeOf(answer);
    },
    async 'hand in many'(given) {
      const maker = await makerOf(given);
      for (let n = 0; n < (given.count ?? 1); n += 1) await makeApp(maker, appOf(`many-${n}`));
      return 'ok';
    },
    async change(given) {
      return outcomeOf(await service(given, '', 'PATCH', { files: given.files }));
    },
    accept: async (given) =>
      outcomeOf(
        await accept(personOf(given), draftOf(given).id, {
          hash: hashOf(given),
          ...(given.permissions === undefined ? {} : { permissions: given.permissions }),
        }),
      ),
    decline: async (given) =>
      outcomeOf(await personOf(given).fetch(`${DRAFTS}/${draftOf(given).id}/decline`, { body: {} })),
    read: async (given) => outcomeOf(await personOf(given).fetch(`${DRAFTS}/${draftOf(given).id}`)),
    async preview(given) {
      const path = `${DRAFTS}/${draftOf(given).id}/preview`;
      const answer = await personOf(given).fetch(path, { body: { hash: hashOf(given) } });
      if (answer.status === 200) previewed = (answer.json as { origin: string }).origin;
      return outcomeOf(answer);
    },
    load: async (given) => String((await load(previewed, given)).status),
    'load kept': async (given) => String((await load(kept, given)).status),
    async keep() {
      kept = previewed;
      return 'ok';
    },
    async policy(given) {
      const { headers } = await load(previewed, given);
      const policy = String(headers['content-security-policy']);
      assert.match(policy, /script-src 'self';.* connect-src 'self';.* frame-src 'none';.* sandbox /);
      assert.doesNotMatch(policy, /services\.|\*|unsafe-eval|script-src[^;]*unsafe-inline/);
      assert.equal(headers['connection-allowlist'], '(response-origin)');
      assert.equal(headers['cache-control'], 'no-store');
      assert.equal(headers['set-cookie'], undefined);
      return 'ok';
    },
    templates: async (given) => outcomeOf(await (await makerOf(given)).call('/v1/services/apps/templates')),
    async source(given) {
      const query = new URLSearchParams();
      if (given.path !== undefined) query.set('path', given.path);
      if (given.offset !== undefined) query.set('offset', String(given.offset));
      return outcomeOf(await service(given, `/source?${query}`));
    },
    async log(given) {
      const answer = await service(given, '/log');
      return outcomeOf(answer);
    },
    errors: async (given) => outcomeOf(await service(given, '/errors')),
    async 'page error'(given) {
      const error = { message: 'No.', file: '/a.js', line: 1, column: 2, stack: null, ...given.error };
      const text = JSON.stringify(error).replaceAll(/\$(\d{3,})/g, (_, count) => 'x'.repeat(Number(count)));
      const path = `/v1/apps/${appOf(given.app)}/page-errors`;
      const answer = await personOf(given).fetch(path, { method: 'POST', body: JSON.parse(text) });
      if (answer.status !== 200) return problemCode(answer);
      return (answer.json as { kept: boolean }).kept ? 'kept' : 'not kept';
    },
    async permit({ app, permissions }) {
      await makerOf({});
      const path = `/v1/apps/${appOf(app)}/permissions`;
      return outcomeOf(await people.ada.fetch(path, { method: 'PUT', body: { permissions } }));
    },
    remove: async ({ app }) => outcomeOf(await people.ada.fetch(`/v1/apps/${appOf(app)}`, { method: 'DELETE' })),
    async install({ app }) {
      if (app !== undefined && makers.delete(app)) {
        await makerOf({ by: app });
        return 'ok';
      }
      return outcomeOf(await people.ada.fetch('/v1/apps', { body: { appId: appOf(app), permissions: [] } }));
    },
    async publish(given) {
      const { version = '1.0.0', visibility = 'public' } = given;
      const appId = appOf(given.app);
      const manifest = testManifest(appId, { version, visibility });
      const answer = await personOf(given).fetch(`/v1/catalog/${appId}/versions/${version}`, {
        method: 'PUT',
        body: await buildTestPackage({ manifest }),
        headers: { 'content-type': 'application/gzip' },
      });
      return outcomeOf(answer);
    },
    upgrade: async ({ app, version }) =>
      outcomeOf(await people.ada.fetch(`/v1/apps/${appOf(app)}/upgrade`, { body: { version } })),
    async held({ app, permissions }) {
      const held = await people.ada.browser.take<PermissionsView>(`/v1/apps/${appOf(app)}/permissions`);
      const { items } = await people.ada.browser.take<{ items: InstalledApp[] }>('/v1/apps?limit=200');
      assert.ok(items.some(({ appId }) => appId === appOf(app)));
      return isDeepStrictEqual(held.permissions, permissions) ? 'ok' : JSON.stringify(held.permissions);
    },
    async wait({ days = 0 }) {
      time.ahead += days * DAY;
      return 'ok';
    },
  };

  return {
    take(verb, given) {
      const act = verbs[verb];
      if (act === undefined) throw new Error(`${verb} is no step`);
      return act(given);
    },
  };
}
