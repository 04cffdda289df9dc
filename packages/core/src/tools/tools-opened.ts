// How many tools grants open today, by what apps said last that they offer.
import { matchesResource } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { type Counted, type OpensPart, openedOf } from '../opened.ts';
import { selectToolApps } from './queries.ts';

export function toolsOpened({ database, builtInTools }: CoreContext): OpensPart {
  async function names(accountKey: string): Promise<{ readonly appId: string; readonly tools: readonly string[] }[]> {
    const apps = await selectToolApps(database, accountKey);
    return apps.map(({ app_id, offer }) => ({ appId: app_id, tools: offer?.tools.map(({ name }) => name) ?? [] }));
  }
  const usable = async ({ accountKey, appId, resources }: Counted) => {
    const offered = (await names(accountKey))
      .filter((app) => app.appId !== appId)
      .flatMap((app) => app.tools.map((tool) => `${app.appId}.${tool}`));
    const own = builtInTools.all.filter((tool) => tool.for !== 'own-clients').map(({ name }) => name);
    const open = [...own, ...offered].filter((name) => resources.some((pattern) => matchesResource(pattern, name)));
    return [openedOf('tools', open.length)];
  };
  return {
    'mcp.tools.call': usable,
    'mcp.tools.propose': usable,
    async 'mcp.tools.serve'({ accountKey, appId }) {
      const own = (await names(accountKey)).find((app) => app.appId === appId);
      return [openedOf('tools', own?.tools.length ?? 0)];
    },
  };
}
