// Resources of the conformance suite.
import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { PNG } from './fixture-tools.ts';

export function addResources(server: McpServer): void {
  server.registerResource(
    'static-text',
    'test://static-text',
    { title: 'Text', description: 'A text that stays', mimeType: 'text/plain' },
    ({ href: uri }) => ({
      contents: [{ uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }],
    }),
  );
  server.registerResource(
    'static-binary',
    'test://static-binary',
    { title: 'Picture', description: 'A picture that stays', mimeType: 'image/png' },
    ({ href: uri }) => ({ contents: [{ uri, mimeType: 'image/png', blob: PNG }] }),
  );
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined, complete: { id: () => ['123', '124'] } }),
    { title: 'Data', description: 'Data by its id', mimeType: 'application/json' },
    ({ href: uri }, { id }) => ({
      contents: [
        {
          ...{ uri, mimeType: 'application/json' },
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
        },
      ],
    }),
  );
}
