// Who uses tools: an app by either of its parts, or a client outside that its person connected.
import { type Grant, readScope } from '@platform/contract';
import type { ConnectionCaller } from '../connections/face.ts';
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
  /** The tools that it may call without asking, as grants name them. */
  readonly patterns: readonly string[];
  readonly credential: HubCaller;
}

export function toolCallerOf(credential: HubCaller): ToolCaller {
  const { accountKey } = credential;
  if (credential.kind === 'connection') {
    const { connectionId: id, scopes } = credential;
    const patterns = scopes.flatMap((scope) => {
      const read = readScope(scope);
      return read?.use === 'call' ? [read.pattern] : [];
    });
    return { ...{ accountKey, id, shown: 'connection', recorded: id, credential }, patterns };
  }
  const { installationId: id, appId, grants } = credential;
  const patterns = grants.flatMap((grant) => (grant.id === 'mcp.tools.call' ? grant.resources : []));
  return { ...{ accountKey, id, shown: appId, recorded: appId, credential }, patterns };
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
