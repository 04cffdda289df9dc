// Who uses tools: an app by either of its parts, or a client outside that its person connected.
import { type Grant, matchesResource, readScope, type ToolUse } from '@platform/contract';
import type { ConnectionCaller } from '../connections/face.ts';
import { resourcesOf } from '../grants/grant-coverage.ts';
import type { FrontendCaller, InstallationCaller } from '../installations/face.ts';

export type HubCaller = FrontendCaller | InstallationCaller | ConnectionCaller;

export interface ToolCaller {
  readonly accountKey: string;
  /** Of the installation or the connection: its turns, its place in a chain and its ids of conversations go by it. */
  readonly id: string;
  /** As the backend that is called learns it: the app id, or `connection`. */
  readonly shown: string;
  /** In the record: the app id, or the id of the connection. */
  readonly recorded: string;
  /** As its person knows it; a client outside names itself. */
  readonly name: string;
  /** Of a client outside: where it is. */
  readonly host: string | null;
  /** The tools that it may call without asking, and those that it may propose to call, as grants name them. */
  readonly patterns: Readonly<Record<ToolUse, readonly string[]>>;
  readonly credential: HubCaller;
}

export function toolCallerOf(credential: HubCaller): ToolCaller {
  const { accountKey } = credential;
  if (credential.kind === 'connection') {
    const { connectionId: id, scopes, client } = credential;
    const read = scopes.map(readScope);
    const patterns = (use: ToolUse) => read.flatMap((scope) => (scope?.use === use ? [scope.pattern] : []));
    return {
      ...{ accountKey, id, shown: 'connection', recorded: id, credential, ...client },
      patterns: { call: patterns('call'), propose: patterns('propose') },
    };
  }
  const { installationId: id, appId, grants } = credential;
  return {
    ...{ accountKey, id, shown: appId, recorded: appId, name: appId, host: null, credential },
    patterns: { call: resourcesOf(grants, 'mcp.tools.call'), propose: resourcesOf(grants, 'mcp.tools.propose') },
  };
}

/** What it may do with the tool of this full name; `null` for nothing. */
export function useOf({ patterns }: Pick<ToolCaller, 'patterns'>, tool: string): ToolUse | null {
  const may = (use: ToolUse) => patterns[use].some((pattern) => matchesResource(pattern, tool));
  if (may('call')) return 'call';
  return may('propose') ? 'propose' : null;
}

/** What tools of the platform ask of an app; a connection was allowed the very tool instead. */
const CONSENTED: readonly Grant[] = (
  ['messaging.read', 'messaging.send', 'messaging.resolve', 'notifications.read', 'apps.catalog.read'] as const
).map((id) => ({ id, resources: ['*'] }));

/** The caller of the route behind a tool of the platform. */
export function routeCallerOf({ id, credential }: ToolCaller): HubCaller {
  if (credential.kind !== 'connection') return credential;
  const asApp = { installationId: id, appId: id, grants: CONSENTED };
  return { ...credential, ...asApp };
}
