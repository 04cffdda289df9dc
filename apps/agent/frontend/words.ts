// Calls of tools, times and amounts as the person reads them.
import type { UsableTool } from '@platform/sdk/browser';
import { visibleText } from '@platform/shell/visible-text';

export const WEB_SEARCH = 'web_search';

/** What is known of a tool; its title and its app's name are the app's own words. */
export type KnownTools = ReadonlyMap<string, Pick<UsableTool, 'title' | 'app'>>;

/** `Search the web`, `Add a note in Notes`. */
export function toolInWords(tool: string, known: KnownTools): string {
  const app = appOf(tool, known);
  return app === undefined ? titleOf(tool, known) : `${titleOf(tool, known)} in ${app}`;
}

export function titleOf(tool: string, known: KnownTools): string {
  if (tool === WEB_SEARCH) return 'Search the web';
  const title = known.get(tool)?.title;
  return title === undefined || title.trim() === '' ? tool.slice(tool.indexOf('.') + 1) : visibleText(title);
}

/** The app that has the tool; undefined for the platform's own. */
export function appOf(tool: string, known: KnownTools): string | undefined {
  if (tool === WEB_SEARCH || tool.startsWith('platform-')) return undefined;
  const name = known.get(tool)?.app?.name;
  return name === undefined ? tool.split('.')[0] : visibleText(name);
}

const DAY = 86_400_000;

/** `14:05` today, `Tuesday` within a week, otherwise the date. */
export function whenShort(iso: string, now = new Date()): string {
  const at = new Date(iso);
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  if (at.getTime() >= midnight) return at.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  if (at.getTime() >= midnight - 6 * DAY) return at.toLocaleDateString([], { weekday: 'long' });
  return at.toLocaleDateString([], { day: 'numeric', month: 'short', year: 'numeric' });
}

/** Tokens, as nobody counts them one by one: `820`, `12,400`, `1.2 million`. */
export function tokensInWords(tokens: number): string {
  if (tokens >= 1_000_000) return `${(Math.floor(tokens / 100_000) / 10).toLocaleString('en')} million`;
  return (tokens >= 10_000 ? Math.floor(tokens / 100) * 100 : tokens).toLocaleString('en');
}
