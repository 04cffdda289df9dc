// The platform as a user starts it, with a driver and a fake model, and an agent on it.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import type { Grant } from '@platform/contract';
import { installAgent, type TestAgent } from '../../support/agent-world.ts';
import { registerAccount, type TestAccount } from '../../support/client.ts';
import { type PlatformPlace, platformPlace, startPlatform } from '../../support/platform-process.ts';
import { startTurnProvider, type TurnProvider } from '../../support/turn-provider.ts';
import { until } from '../../support/wait.ts';

/** For an emulated guest on a busy machine to boot. */
const BOOT_LIMIT = 240_000;

export interface AgentPlatform {
  readonly provider: TurnProvider;
  readonly account: TestAccount;
  readonly agent: TestAgent;
  close(): Promise<void>;
}

/** @param prepare what its data folder has before its first start */
export async function startAgentPlatform(
  settings: Readonly<Record<string, string>>,
  prepare: (place: PlatformPlace) => Promise<void> = async () => undefined,
): Promise<AgentPlatform> {
  const provider = await startTurnProvider();
  const folder = await mkdtemp(path.join(tmpdir(), 'agent-platform-'));
  const file = path.join(folder, 'providers.json');
  await writeFile(path.join(folder, 'key'), 'any-word', { mode: 0o600 });
  const openai = { id: 'openai', baseUrl: `${provider.origin}/v1`, dialect: 'openai', platformKeyFile: 'key' };
  await writeFile(file, JSON.stringify({ providers: [openai] }));
  const place = await platformPlace({ ...settings, PLATFORM_INTELLIGENCE_FILE: file });
  await prepare(place);
  const platform = await startPlatform(place);
  const account = await registerAccount(place, 'ada');
  const permissions: Grant[] = [{ id: 'intelligence.use', resources: ['openai:*'] }];
  return {
    ...{ provider, account },
    agent: await installAgent(place, account, 'helper', { permissions }),
    async close() {
      await platform.stop();
      await place.remove();
      await provider.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** A turn, another start, and a turn that has the first one before it. */
export async function answersTwice({ provider, account, agent }: AgentPlatform): Promise<void> {
  provider.play(({ messages }) => ({ text: `Heard ${messages.filter(({ role }) => role === 'user').length}.` }));
  await awake(agent);
  const session = await agent.newSession();
  const said = async (text: string) => {
    const events = await agent.turn(session, text);
    return events.flatMap((one) => (one.event === 'message' && one.data.role === 'assistant' ? [one.data.text] : []));
  };
  assert.deepEqual(await said('One.'), ['Heard 1.']);
  await account.browser.take('/v1/apps/helper/stop', { method: 'POST' });
  await account.browser.take('/v1/apps/helper/start', { method: 'POST' });
  await awake(agent);
  assert.deepEqual(await said('Two.'), ['Heard 2.']);
}

async function awake(agent: TestAgent): Promise<void> {
  await until('the agent answers', async () => (await agent.ask('GET', '/sessions')).status === 200, BOOT_LIMIT);
}
