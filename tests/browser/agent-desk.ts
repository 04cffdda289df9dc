// A whole platform with a scripted model, a fake search engine and an app with tools, and a person who sits before Personal Agent.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import type { Browser, BrowserContext, FrameLocator, Page } from 'playwright-core';
import { type FakeEngine, startFakeEngine } from '../../packages/core/test-support/fake-engine.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { type Asked, type Played, startTurnProvider, type TurnProvider } from '../support/turn-provider.ts';
import { bundleWorkload } from '../system/tools/bundle-workload.ts';
import { launchBrowser } from './browser.ts';
import { signedInContext } from './signed-in.ts';

/** No app of examples/ has this id. */
export const PANTRY = 'pantry';

export interface AgentDesk {
  readonly provider: TurnProvider;
  readonly engine: FakeEngine;
  readonly platform: PlatformProcess;
  readonly browser: Browser;
  close(): Promise<void>;
}

export interface Sitting {
  readonly account: TestAccount;
  readonly context: BrowserContext;
  readonly page: Page;
  readonly app: FrameLocator;
}

/** @param providers how many AI providers it has, each the scripted one */
export async function startAgentDesk({ providers }: { readonly providers: 0 | 1 }): Promise<AgentDesk> {
  const [provider, engine] = await Promise.all([startTurnProvider(), startFakeEngine()]);
  const folder = await mkdtemp(path.join(tmpdir(), 'agent-desk-'));
  const write = (name: string, content: unknown) => writeFile(path.join(folder, name), JSON.stringify(content));
  await writeFile(path.join(folder, 'key'), 'any-word', { mode: 0o600 });
  const scripted = { id: 'scripted', baseUrl: `${provider.origin}/v1`, dialect: 'openai', platformKeyFile: 'key' };
  await write('providers.json', { providers: [scripted].slice(0, providers), monthlyTokens: 1_000_000 });
  await write('engine.json', { kind: 'searxng', url: engine.origin });
  const place: PlatformPlace = await platformPlace({
    PLATFORM_RUNTIME_DRIVER: 'process',
    PLATFORM_INTELLIGENCE_FILE: path.join(folder, 'providers.json'),
    PLATFORM_WEB_SEARCH_FILE: path.join(folder, 'engine.json'),
  });
  const [platform, browser] = await Promise.all([startPlatform(place), launchBrowser()]);
  await publishPantry(await registerAccount(platform, 'grocer'));
  return {
    ...{ provider, engine, platform, browser },
    async close() {
      await browser.close();
      await platform.stop();
      await place.remove();
      await provider.close();
      await engine.close();
      await rm(folder, { recursive: true });
    },
  };
}

async function publishPantry(author: TestAccount): Promise<void> {
  const workload = { runtime: 'node', entry: 'main.mjs', mcp: { path: '/mcp' }, resources: { memoryMiB: 256 } };
  const permissions = [{ id: 'mcp.tools.serve', resources: ['self'] }];
  const files = {
    'workload/main.mjs': await bundleWorkload('../agents/tools-workload.ts'),
    'frontend/index.html': '<!doctype html><title>Pantry</title>',
  };
  await publishTestApp(author, PANTRY, { name: 'Pantry', workload, permissions }, files);
}

/** A new account with the pantry, in front of its agent. */
export async function sitDown(
  { browser, platform }: AgentDesk,
  name: string,
  viewport: { readonly width: number; readonly height: number },
): Promise<Sitting> {
  const account = await registerAccount(platform, name);
  await account.browser.take('/v1/apps', { body: { appId: PANTRY } });
  const context = await signedInContext({ browser, platform, account }, viewport);
  const page = await context.newPage();
  await page.goto(`${platform.origin}/#/app/agent`);
  return { account, context, page, app: page.frameLocator('iframe[title="Personal Agent"]') };
}

/** What the person said last, and how many tools answered since. */
export function heard({ messages }: Asked): { readonly said: string; readonly results: number } {
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const content = messages[at]?.content;
  return {
    said: typeof content === 'string' ? content : JSON.stringify(content),
    results: messages.slice(at).filter(({ role }) => role === 'tool').length,
  };
}

/** Calls a tool once, then says something. */
export function callingOnce(name: string, given: object, text: string): (asked: Asked) => Played {
  return (asked) => (heard(asked).results === 0 ? { calls: [{ name, arguments: given }] } : { text });
}
