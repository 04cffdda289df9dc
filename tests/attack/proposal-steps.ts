// The steps of the stories in proposal-cases.json, as requests to a real core.
import { strict as assert } from 'node:assert';
import type { BridgePage, Grant, Proposal, ShownProposal } from '@platform/contract';
import { confirm, type TestAccount } from '../support/client.ts';
import type { Constellation } from '../support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../support/installed-app.ts';
import { buildTestPackage, testManifest } from '../support/packages.ts';
import { problemCode, type RawAnswer } from '../support/raw-http.ts';

export const PUBLISH = 'platform-notifications.publish';
const NOTE = { topic: 'daily', title: 'Water the plants', body: 'The fern first.' };
export const PROPOSES: readonly Grant[] = [
  { id: 'mcp.tools.propose', resources: ['platform-*'] },
  { id: 'apps.create', resources: ['*'] },
  { id: 'messaging.read', resources: ['*'] },
  { id: 'messaging.send', resources: ['*'] },
  { id: 'notifications.publish', resources: ['daily'] },
];

export interface RawResult {
  readonly status: number;
  readonly proposal?: Proposal;
  /** Of the protocol. */
  readonly error?: string;
  /** Of the result. */
  readonly text?: string;
}

/** A call as it is written, with whatever is in its arguments. */
export async function callRaw(app: Pick<InstalledTestApp, 'call'>, tool: string, given: string): Promise<RawResult> {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const params = `{"name":${JSON.stringify(tool)},"arguments":${given},"_meta":${JSON.stringify(meta)}}`;
  const answer = await app.call('/v1/services/mcp', {
    body: Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`),
    headers: {
      ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call' },
      'mcp-name': /^[\x21-\x7e]+$/.test(tool) ? tool : `=?base64?${Buffer.from(tool).toString('base64')}?=`,
    },
  });
  const text = /^data: (.*)$/m.exec(answer.text)?.[1] ?? answer.text;
  const { result, error, code } = JSON.parse(text);
  return {
    status: answer.status,
    ...(result?.structuredContent?.proposal === undefined ? {} : { proposal: result.structuredContent.proposal }),
    ...(error === undefined && code === undefined ? {} : { error: error?.message ?? code }),
    ...(result?.isError === true ? { text: result.content[0].text } : {}),
  };
}

export function outcomeOf({ proposal, error, text, status }: RawResult): string {
  assert.ok(status < 500, String(status));
  if (proposal !== undefined) return 'pending';
  if (text !== undefined) return 'refused';
  return /Invalid arguments|Unknown tool|Invalid params|Invalid request|expected/.test(error ?? '')
    ? 'invalid'
    : 'refused';
}

interface Given {
  readonly by?: string;
  readonly person?: 'ada' | 'ben';
  readonly proposal?: number;
  readonly hash?: number | string;
  readonly tool?: string;
  readonly arguments?: object;
  readonly permissions?: readonly Grant[];
  readonly confirmed?: number;
  readonly passkey?: 'ben';
  readonly minutes?: number;
  readonly count?: number;
}
export type Step = readonly [verb: string, given: Given, outcome: string];

interface StageParts {
  readonly world: Constellation;
  readonly people: Readonly<Record<'ada' | 'ben', TestAccount>>;
  readonly time: { ahead: number };
  /** Of the app that proposes. */
  readonly id: string;
}

const PROPOSALS = '/v1/account/proposals';
const codeOf = (answer: RawAnswer) => (answer.status < 300 ? 'ok' : problemCode(answer));

export function stageOf({ world, people, time, id }: StageParts) {
  const apps = new Map<string, InstalledTestApp>();
  const made: string[] = [];
  const { ada } = people;

  async function appOf({ by = 'app' }: Given): Promise<InstalledTestApp> {
    const owner = by === 'foreign' ? people.ben : ada;
    const found = apps.get(by) ?? (await installTestApp(world, owner, by === 'app' ? id : `${id}-${by}`, PROPOSES));
    apps.set(by, found);
    return found;
  }
  const personOf = ({ person = 'ada' }: Given) => people[person];
  const idOf = ({ proposal = 1 }: Given) => made[proposal - 1] ?? assert.fail(`no proposal ${proposal}`);
  const shown = async (proposal: string) =>
    (await ada.browser.take<{ proposal: ShownProposal }>(`${PROPOSALS}/${proposal}`)).proposal;

  async function hashOf(given: Given): Promise<string> {
    const { hash = given.proposal ?? 1 } = given;
    if (hash === 'UPPER') return (await shown(idOf(given))).argumentsHash.toUpperCase();
    if (typeof hash === 'string') return hash;
    // Of one that is gone meanwhile.
    const found = await ada.fetch(`${PROPOSALS}/${made[hash - 1]}`);
    return found.status === 200 ? (found.json as { proposal: ShownProposal }).proposal.argumentsHash : '0'.repeat(64);
  }

  async function approve(given: Given): Promise<RawAnswer> {
    const { confirmed, passkey = 'ada' } = given;
    const confirmation =
      confirmed === undefined
        ? {}
        : { confirmation: await confirm(people[passkey], 'tools.approve', made[confirmed - 1]) };
    const body = { argumentsHash: await hashOf(given), ...confirmation };
    return personOf(given).fetch(`${PROPOSALS}/${idOf(given)}/approve`, { body });
  }

  async function done(): Promise<number> {
    const { items } = await ada.browser.take<BridgePage<{ appId: string }>>('/v1/notifications?limit=200');
    return items.filter(({ appId }) => appId === id).length;
  }

  const verbs: Readonly<Record<string, (given: Given) => Promise<string>>> = {
    async propose(given) {
      const text = JSON.stringify(given.arguments ?? NOTE);
      const { proposal, text: refused = '' } = await callRaw(await appOf(given), given.tool ?? PUBLISH, text);
      if (proposal === undefined) return refused.split(':')[0] ?? '';
      made.push(proposal.id);
      return 'ok';
    },
    async 'propose many'(given) {
      for (let n = 0; n < (given.count ?? 0); n += 1) await verbs.propose?.(given);
      return made.length === given.count ? 'ok' : `${made.length}`;
    },
    async approve(given) {
      const answer = await approve(given);
      return answer.status === 200 ? (answer.json as { proposal: ShownProposal }).proposal.state : problemCode(answer);
    },
    async 'approve at once'({ count = 2 }) {
      const answers = await Promise.all(Array.from({ length: count }, () => approve({})));
      return `${answers.filter(({ status }) => status === 200).length} of ${count}`;
    },
    async 'approve and decline'() {
      const decline = ada.fetch(`${PROPOSALS}/${idOf({})}/decline`, { body: {} });
      const [approved, declined] = await Promise.all([approve({}), decline]);
      const both = [approved.status, declined.status].filter((status) => status === 200).length;
      assert.equal(await done(), approved.status === 200 ? 1 : 0);
      return both === 1 ? 'one' : String(both);
    },
    async 'approve as app'(given) {
      const app = await appOf(given);
      return codeOf(
        await app.call(`${PROPOSALS}/${idOf(given)}/approve`, { body: { argumentsHash: await hashOf(given) } }),
      );
    },
    decline: async (given) => codeOf(await personOf(given).fetch(`${PROPOSALS}/${idOf(given)}/decline`, { body: {} })),
    async read(given) {
      if (given.by === undefined) return codeOf(await personOf(given).fetch(`${PROPOSALS}/${idOf(given)}`));
      return codeOf(await (await appOf(given)).call(`/v1/services/proposals/${idOf(given)}`));
    },
    cancel: async (given) =>
      codeOf(await (await appOf(given)).call(`/v1/services/proposals/${idOf(given)}/cancel`, { body: {} })),
    remove: async () => codeOf(await ada.fetch(`/v1/apps/${id}`, { method: 'DELETE' })),
    async install() {
      apps.delete('app');
      await appOf({});
      return 'ok';
    },
    permit: async ({ permissions = PROPOSES }) =>
      codeOf(await ada.fetch(`/v1/apps/${id}/permissions`, { method: 'PUT', body: { permissions } })),
    async upgrade({ permissions }) {
      const manifest = testManifest(id, { version: '2.0.0', permissions });
      const body = await buildTestPackage({ manifest });
      const headers = { 'content-type': 'application/gzip' };
      await ada.browser.take(`/v1/catalog/${id}/versions/2.0.0`, { method: 'PUT', body, headers });
      return codeOf(await ada.fetch(`/v1/apps/${id}/upgrade`, { body: { version: '2.0.0' } }));
    },
    pause: async () => codeOf(await ada.fetch('/v1/runtime/pause', { method: 'POST', body: {} })),
    resume: async () => codeOf(await ada.fetch('/v1/runtime/resume', { method: 'POST', body: {} })),
    async done({ count }) {
      const present = await done();
      return present === count ? 'ok' : `${present}`;
    },
    async wait({ minutes = 0 }) {
      time.ahead += minutes * 60_000;
      return 'ok';
    },
  };

  return {
    take(verb: string, given: Given): Promise<string> {
      const act = verbs[verb];
      if (act === undefined) throw new Error(`${verb} is no step`);
      return act(given);
    },
  };
}
