// What the app knows of the agent besides the session that is open: what it can do, its profiles, its sessions and what is left of its
// budget.
import type { App } from '@platform/sdk/browser';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useLoaded } from '../../shared/use-loaded.ts';
import { type AgentApi, agentApi } from './agent-api.ts';
import type { KnownTools } from './words.ts';

export interface Budget {
  readonly left: number;
  readonly most: number;
}

export function useAgent(app: App) {
  const api: AgentApi = useRef(agentApi(app)).current;
  const described = useLoaded(app, api.describe);
  const sessions = useLoaded(app, api.sessions);
  const profiles = useLoaded(app, api.profiles);
  const budget = useLoaded(app, async (): Promise<Budget> => {
    const { limits, usage } = await app.bridge.call('intelligence.usage');
    return { left: Math.max(0, limits.monthlyTokens - usage.tokens - usage.reserved), most: limits.monthlyTokens };
  });
  const [tools, setTools] = useState<KnownTools>(new Map());
  useEffect(() => {
    // Without their titles tools have their names.
    toolsOf(app).then(setTools, () => undefined);
  }, [app]);
  /** What a turn changes. */
  const reload = () => void Promise.all([sessions.reload(), budget.reload()]);
  return { api, described, sessions, profiles, budget: budget.value, tools, reload };
}

export type UsedAgent = ReturnType<typeof useAgent>;

async function toolsOf(app: App): Promise<KnownTools> {
  const known = new Map<string, { title?: string; app: { id: string; name: string } | null }>();
  for (let cursor: string | undefined | null; cursor !== null; ) {
    const page = await app.bridge.call('mcp.listTools', cursor === undefined ? {} : { cursor });
    for (const { name, title, app: owner } of page.items)
      known.set(name, title === undefined ? { app: owner } : { title, app: owner });
    cursor = page.nextCursor;
  }
  return known;
}
