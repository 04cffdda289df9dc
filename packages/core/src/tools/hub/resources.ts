// The resources of one app: as it lists them, and read from it.
import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError, type Server } from '@modelcontextprotocol/server';
import { appUri } from '../served/offered-content.ts';
import type { Serving } from '../served/served-tools.ts';
import type { RequestOf } from './ask-app.ts';
import { askForContent } from './content-request.ts';
import type { Hub } from './hub-tool.ts';
import { pageOf } from './pages.ts';

export function serveResources(server: Server, hub: Hub, serving: Serving, requestOf: RequestOf): void {
  const { app_id: appId, name, offer } = serving;
  const own = { _meta: { 'platform/app': { id: appId, name } } };
  server.setRequestHandler('resources/list', ({ params }) => {
    const { page, more } = pageOf(offer.resources ?? [], ({ uri }) => uri, params?.cursor);
    return { resources: page.map((one) => ({ ...one, ...own })), ...more };
  });
  server.setRequestHandler('resources/templates/list', ({ params }) => {
    const { page, more } = pageOf(offer.templates ?? [], ({ uriTemplate }) => uriTemplate, params?.cursor);
    return { resourceTemplates: page.map((one) => ({ ...one, ...own })), ...more };
  });
  server.setRequestHandler('resources/read', async ({ params: { uri } }, context) => {
    if (!appUri.safeParse(uri).success) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'This is no URI.');
    const asked = { name: `${appId}.resources/read`, given: { uri } };
    try {
      return await askForContent(hub, serving, requestOf(context), asked, (client, more, options) =>
        client.readResource({ uri, ...more }, { ...options, cacheMode: 'bypass' }),
      );
    } catch (error) {
      throw isNotFound(error) ? new ResourceNotFoundError(uri) : error;
    }
  });
}

function isNotFound(error: unknown): boolean {
  if (!(error instanceof ProtocolError)) return false;
  const { code, data } = error;
  if (code === ProtocolErrorCode.ResourceNotFound) return true;
  // As revision 2026-07-28 has it; what is wrong with a state has a reason.
  return code === ProtocolErrorCode.InvalidParams && data === undefined;
}
