// What Matrix servers and clients look up under the name in addresses (server-server API 2.1, client-server API 2.3.1): where the
// homeserver is. Public, and served on that name whatever the port is, since who asks knows the name alone.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendProblem } from '@platform/http';
import type { CoreConfig } from '../../config/config.ts';

interface MatrixDocument {
  readonly body: string;
  /** Pages of any origin may read it. */
  readonly forPages: boolean;
}

export type MatrixDocuments = (host: string, path: string) => MatrixDocument | undefined;

/** @returns what is served there, if anything is */
export function matrixDocuments({ serverName, federation, clientUrl }: CoreConfig['messaging']): MatrixDocuments {
  const name = withoutPort(serverName);
  const documents = new Map<string, MatrixDocument>();
  if (federation !== null)
    documents.set('/.well-known/matrix/server', {
      body: JSON.stringify({ 'm.server': federation }),
      forPages: false,
    });
  if (clientUrl !== null)
    documents.set('/.well-known/matrix/client', {
      body: JSON.stringify({ 'm.homeserver': { base_url: clientUrl } }),
      forPages: true,
    });
  return (host, path) => (withoutPort(host) === name ? documents.get(path) : undefined);
}

export function serveMatrixDocument(
  { method }: IncomingMessage,
  response: ServerResponse,
  { document, requestId }: { readonly document: MatrixDocument; readonly requestId: string },
): void {
  if (method !== 'GET' && method !== 'HEAD') {
    sendProblem(response, { code: 'method_not_allowed', allow: ['GET', 'HEAD'] }, { requestId });
    return;
  }
  response.writeHead(200, {
    'x-request-id': requestId,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(document.body),
    'cache-control': 'public, max-age=3600',
    'x-content-type-options': 'nosniff',
    ...(document.forPages ? { 'access-control-allow-origin': '*' } : {}),
  });
  response.end(method === 'HEAD' ? undefined : document.body);
}

function withoutPort(host: string): string {
  return host.replace(/:\d+$/, '');
}
