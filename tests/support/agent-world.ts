// An agent in a real sandbox, behind a real Gateway and a real core, with the tools of another real app. Only its model is fake.
import { readFileSync } from 'node:fs';
import type { AgentEvent, AgentSession, Grant } from '@platform/contract';
import { descendants } from '../../packages/runtime/test-support/processes.ts';
import { backendDoor } from './backend.ts';
import type { TestAccount } from './client.ts';
import { type EventReader, openEvents } from './event-reader.ts';
import { type IntelligenceCore, startIntelligenceCore, type WorldLimits } from './intelligence-world.ts';
import type { PlatformPlace } from './platform-process.ts';
import { publishTestApp } from './publish.ts';
import { type RawAnswer, rawRequest } from './raw-http.ts';
import { type RealNode, startRealNode } from './real-node.ts';
import { startTurnProvider, type TurnProvider } from './turn-provider.ts';
import { until } from './wait.ts';

export interface AgentWorld {
  readonly provider: TurnProvider;
  readonly core: IntelligenceCore;
  readonly account: TestAccount;
  readonly node: RealNode;
  /** Publishes and installs an agent. */
  install(appId: string, options?: AgentOptions): Promise<TestAgent>;
  close(): Promise<void>;
}

export interface AgentOptions {
  readonly agent?: object;
  readonly permissions?: readonly Grant[];
}

export interface TestAgent {
  ask(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<RawAnswer>;
  newSession(): Promise<string>;
  /** What happened in it from an event on. */
  events(session: string): Promise<readonly AgentEvent[]>;
  say(session: string, text: string): Promise<RawAnswer>;
  /** Says it and waits for the end of the turn. @returns the events of the turn */
  turn(session: string, text: string): Promise<readonly AgentEvent[]>;
  /** Until the session has this event. */
  awaitEvent(session: string, event: AgentEvent['event']): Promise<readonly AgentEvent[]>;
  stream(session: string, after?: string): Promise<EventReader>;
  /** Its process, as the machine sees it. */
  process(): { readonly pid: number; alive(): boolean } | undefined;
}

export const INSTRUCTIONS = 'Keep the notes of your person.';

/** @param keyless ids of providers that have no key of the platform */
export async function startAgentWorld(limits: WorldLimits = {}, keyless: readonly string[] = []): Promise<AgentWorld> {
  const provider = await startTurnProvider();
  const one = (id: string) => ({ id, baseUrl: `${provider.origin}/v1`, dialect: 'openai' });
  const providers = [{ ...one('openai'), platformKeyFile: 'key' }, ...keyless.map(one)];
  const core = await startIntelligenceCore(provider.origin, { providers, ...limits });
  const { account } = core;
  const node = await startRealNode(core.core, { credential: core.core.core.localNode.nodeCredential });
  return {
    ...{ provider, core, account, node },
    install: (appId, options) => installAgent({ nodePort: node.runtime.listenerPort }, account, appId, options),
    async close() {
      await node.stop();
      await core.close();
      await provider.close();
    },
  };
}

/** Publishes and installs it. */
export async function installAgent(
  place: Pick<PlatformPlace, 'nodePort'>,
  account: TestAccount,
  appId: string,
  { agent: members = {}, permissions }: AgentOptions = {},
): Promise<TestAgent> {
  await publishTestApp(
    account,
    appId,
    {
      workload: { runtime: 'agent', agent: { instructions: 'instructions.md', ...members } },
      permissions: permissions ?? [
        { id: 'intelligence.use', resources: ['openai:*'] },
        { id: 'mcp.tools.call', resources: ['notes.*'] },
      ],
    },
    { 'workload/instructions.md': INSTRUCTIONS, 'frontend/index.html': '' },
  );
  await account.browser.take('/v1/apps', { body: { appId } });
  const door = await backendDoor(place, account, appId);
  const ask: TestAgent['ask'] = (method, path, body, headers = {}) =>
    rawRequest({
      ...{ port: door.port, method, path: `${door.path}/v1/agent${path}` },
      headers: { ...door.headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const sessionOf = ({ json }: RawAnswer) => (json as { session: AgentSession & { events: AgentEvent[] } }).session;
  const events = async (session: string) => sessionOf(await ask('GET', `/sessions/${session}?limit=200`)).events;
  const say = (session: string, text: string) => ask('POST', `/sessions/${session}/messages`, { text });
  const agent: TestAgent = {
    ...{ ask, events, say },
    newSession: async () => sessionOf(await ask('POST', '/sessions', {})).id,
    async turn(session, text) {
      const before = (await events(session)).length;
      const { status, text: said } = await say(session, text);
      if (status !== 202) throw new Error(said);
      return until('the end of the turn', async () => {
        const since = (await events(session)).slice(before);
        return since.at(-1)?.event === 'idle' ? since : undefined;
      });
    },
    awaitEvent: (session, event) =>
      until(`the event ${event}`, async () => {
        const found = await events(session);
        return found.some((one) => one.event === event) ? found : undefined;
      }),
    stream: (session, after) =>
      openEvents({
        port: door.port,
        path: `${door.path}/v1/agent/sessions/${session}/events`,
        headers: { ...door.headers, ...(after === undefined ? {} : { 'last-event-id': after }) },
      }),
    process: () =>
      descendants(process.pid)
        .filter(({ pid }) => isWorker(pid))
        .at(-1),
  };
  return agent;
}

/** The last one of a chain of launchers is the worker itself. */
function isWorker(pid: number): boolean {
  try {
    const [program, ...rest] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return program?.endsWith('/node') === true && rest.some((argument) => argument.endsWith('/agent-worker.mjs'));
  } catch {
    return false; // it has ended
  }
}
