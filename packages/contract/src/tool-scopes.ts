// What clients outside the platform may do with tools (contract 4g, From outside): `tools:call:<pattern>` and `tools:propose:<pattern>`,
// which core grants and the shell puts into words.
import { matchesResource } from './resource-pattern.ts';

/** With or without a person who approves each use. */
export type ToolUse = 'call' | 'propose';

const SCOPE = /^tools:(call|propose):([A-Za-z0-9_.-]{1,128}\*?|\*)$/;

export interface ToolScope {
  readonly use: ToolUse;
  /** A tool's name, or its beginning before `*`, as in the resources of grants. */
  readonly pattern: string;
}

/** @returns `null` for what is no scope of the platform */
export function readScope(scope: string): ToolScope | null {
  const [, use, pattern] = SCOPE.exec(scope) ?? [];
  return use === undefined || pattern === undefined ? null : { use: use as ToolUse, pattern };
}

export function writtenScope({ use, pattern }: ToolScope): string {
  return `tools:${use}:${pattern}`;
}

/** Whether a scope gives all that another one does. Who may call may also propose. */
export function scopeCovers(wide: string, narrow: string): boolean {
  const [one, other] = [readScope(wide), readScope(narrow)];
  if (one === null || other === null) return false;
  return (one.use === 'call' || other.use === 'propose') && matchesResource(one.pattern, other.pattern);
}

/** What scopes allow with a tool; `null` for nothing. */
export function scopedUse(scopes: readonly string[], tool: string): ToolUse | null {
  const may = (use: ToolUse) => scopes.some((scope) => scopeCovers(scope, writtenScope({ use, pattern: tool })));
  if (may('call')) return 'call';
  return may('propose') ? 'propose' : null;
}

/** What a client asks for that names nothing, and what the metadata says it may ask for. */
export const EVERY_SCOPE = ['tools:call:*'] as const;

/** Tools of the platform that change nothing, by what they are for. */
export const READING_TOOLS = {
  apps: ['platform-apps.list'],
  contacts: ['platform-contacts.list'],
  messages: [
    'platform-messaging.conversations',
    'platform-messaging.identity',
    'platform-messaging.messages',
    'platform-messaging.resolve',
    'platform-messaging.sync',
  ],
  notifications: ['platform-notifications.list'],
  schedules: ['platform-schedules.list'],
  search: ['platform-search.query'],
} as const satisfies Readonly<Record<string, readonly string[]>>;
export type ReadingTopic = keyof typeof READING_TOOLS;

/**
 * What is chosen when a person sees the request: to call what only reads, of the platform's own tools, since what an app says of
 * its tools is the app's word; and to propose everything else. Never more than the client asked for.
 *
 * @param wanted scopes that the client asked for
 * @param app of a client that connects to one app; its tools have no names of the platform
 */
export function scopesChosenBeforehand(wanted: readonly string[], app: string | null): string[] {
  const reading = (app === null ? Object.values(READING_TOOLS).flat() : [])
    .map((pattern) => writtenScope({ use: 'call', pattern }))
    .filter((scope) => wanted.some((one) => scopeCovers(one, scope)));
  const proposing = wanted.flatMap((one) => {
    const read = readScope(one);
    return read === null ? [] : [writtenScope({ ...read, use: 'propose' })];
  });
  return withoutCovered([...reading, ...proposing]);
}

/** The same powers in as few scopes, in their order. */
export function withoutCovered(scopes: readonly string[]): string[] {
  const distinct = [...new Set(scopes)];
  return distinct.filter((scope) => !distinct.some((other) => other !== scope && scopeCovers(other, scope)));
}

const LOOPBACK_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** Whether a host name, as `URL` writes it, is this very computer. */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK_HOSTS.includes(host);
}
