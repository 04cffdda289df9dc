// What a client outside may do, in words. Its scopes name tools by the beginning of their names; apps are named as their person knows
// them.
import {
  READING_TOOLS,
  type ReadingTopic,
  readScope,
  scopeCovers,
  type ToolUse,
  writtenScope,
} from '@platform/contract/tool-scopes';

/** What a client reads without asking, by topic. */
export const READS: Readonly<Record<ReadingTopic, string>> = {
  apps: 'See which apps you have',
  contacts: 'Read your contacts',
  messages: 'Read your messages',
  notifications: 'Read your notifications',
  schedules: 'See your schedules',
  search: 'Search what your apps hold',
};

export const TOPICS = Object.keys(READS) as readonly ReadingTopic[];

export function scopesOfTopic(topic: ReadingTopic): string[] {
  return READING_TOOLS[topic].map((pattern) => writtenScope({ use: 'call', pattern }));
}

/** Topics that the scopes allow as a whole. */
export function topicsOf(scopes: readonly string[]): ReadingTopic[] {
  return TOPICS.filter((topic) => scopesOfTopic(topic).every((scope) => scopes.some((one) => scopeCovers(one, scope))));
}

/** The tools that a pattern means, behind a verb: `all tools`, `tools of Notes`. */
export function toolsOf(pattern: string, nameOf: (appId: string) => string): string {
  if (pattern === '*') return 'all tools';
  const [, app, rest] = /^([^.]*)\.(.*)$/.exec(pattern) ?? [];
  if (app === undefined || app === 'platform' || app.startsWith('platform-')) return `the tools “${pattern}”`;
  if (rest === '*') return `tools of ${nameOf(app)}`;
  return pattern.endsWith('*') ? `the tools “${rest}” of ${nameOf(app)}` : `the tool “${rest}” of ${nameOf(app)}`;
}

/** Who may call all tools of an app also reads its resources and prompts, which have no scopes of their own. */
function readsOf(pattern: string): string {
  if (pattern === '*') return ' and reads what your apps offer';
  return /^(?!platform-)[a-z0-9-]+\.\*$/.test(pattern) ? ' and reads what it offers' : '';
}

const USES: readonly (readonly [ToolUse, (tools: string, reads: string) => string])[] = [
  ['call', (tools, reads) => `Uses ${tools}${reads} without asking`],
  ['propose', (tools) => `Uses ${tools} when you approve`],
];

/** One sentence for each thing that a connection may do. */
export function wordsOfScopes(scopes: readonly string[], nameOf: (appId: string) => string): string[] {
  const topics = topicsOf(scopes);
  const everything = scopes.includes('tools:call:*');
  const reading = everything ? [] : topics;
  const readingScopes = reading.flatMap(scopesOfTopic);
  const rest = scopes.filter((scope) => !readingScopes.includes(scope));
  return [
    ...reading.map((topic) => READS[topic]),
    ...USES.flatMap(([use, words]) =>
      rest.flatMap((scope) => {
        const read = readScope(scope);
        return read?.use === use ? [words(toolsOf(read.pattern, nameOf), readsOf(read.pattern))] : [];
      }),
    ),
  ];
}
