// The backend of an app as its own page reaches it: through the ticket and the capability of a launch.
import type { LaunchDescriptor } from '@platform/contract';
import type { TestAccount } from './client.ts';
import type { PlatformPlace } from './platform-process.ts';
import { type RawAnswer, rawRequest } from './raw-http.ts';

/** With a body it is a POST, without one a GET. */
export type AskBackend = (path: string, body?: unknown) => Promise<RawAnswer>;

/** What a request to a backend begins with. */
export interface BackendDoor {
  readonly port: number;
  /** Paths of the backend follow it. */
  readonly path: string;
  readonly headers: { readonly host: string; readonly origin: string; readonly authorization: string };
}

/** Launches the app. */
export async function backendDoor(
  { nodePort }: Pick<PlatformPlace, 'nodePort'>,
  account: TestAccount,
  appId: string,
): Promise<BackendDoor> {
  const launch = await account.browser.take<LaunchDescriptor>(`/v1/apps/${appId}/launch`, { method: 'POST' });
  if (launch.backend === null) throw new Error(`${appId} has no backend`);
  const { capability, endpointTicket } = launch.backend;
  const endpoint = endpointOf(endpointTicket);
  const headers = { host: endpoint.host, origin: launch.origin, authorization: `Bearer ${capability}` };
  return { port: nodePort, path: endpoint.pathname, headers };
}

/** Launches the app; each call of the answer is one request to its backend, which starts it if need be. */
export async function openBackend(
  place: Pick<PlatformPlace, 'nodePort'>,
  account: TestAccount,
  appId: string,
): Promise<AskBackend> {
  const door = await backendDoor(place, account, appId);
  return (path, body) =>
    rawRequest({
      port: door.port,
      method: body === undefined ? 'GET' : 'POST',
      path: `${door.path}${path}`,
      headers: door.headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
}

function endpointOf(ticket: string): URL {
  const { url }: { url: string } = JSON.parse(Buffer.from(ticket.slice('pet1.'.length), 'base64url').toString());
  return new URL(url);
}
