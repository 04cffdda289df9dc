// The backend of an app as its own page reaches it: through the ticket and the capability of a launch.
import type { LaunchDescriptor } from '@platform/contract';
import type { TestAccount } from './client.ts';
import type { PlatformPlace } from './platform-process.ts';
import { type RawAnswer, rawRequest } from './raw-http.ts';

/** With a body it is a POST, without one a GET. */
export type AskBackend = (path: string, body?: unknown) => Promise<RawAnswer>;

/** Launches the app; each call of the answer is one request to its backend, which starts it if need be. */
export async function openBackend(
  { nodePort }: Pick<PlatformPlace, 'nodePort'>,
  account: TestAccount,
  appId: string,
): Promise<AskBackend> {
  const launch = await account.browser.take<LaunchDescriptor>(`/v1/apps/${appId}/launch`, { method: 'POST' });
  if (launch.backend === null) throw new Error(`${appId} has no backend`);
  const { capability, endpointTicket } = launch.backend;
  const endpoint = endpointOf(endpointTicket);
  return (path, body) =>
    rawRequest({
      port: nodePort,
      method: body === undefined ? 'GET' : 'POST',
      path: `${endpoint.pathname}${path}`,
      headers: { host: endpoint.host, origin: launch.origin, authorization: `Bearer ${capability}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
}

function endpointOf(ticket: string): URL {
  const { url }: { url: string } = JSON.parse(Buffer.from(ticket.slice('pet1.'.length), 'base64url').toString());
  return new URL(url);
}
