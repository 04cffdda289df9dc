// A backend that serves tools by the SDK, and calls the one of the next app in the middle of a call.
import { createServer } from 'node:http';
import * as client from '@modelcontextprotocol/client';
import * as server from '@modelcontextprotocol/server';
import { PlatformError, PlatformServicesClient } from '@platform/sdk';
import * as z from 'zod';

const platform = PlatformServicesClient.fromEnv();
const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] });

const tools = platform.tools.serve(server, { name: 'relay', version: '1.0.0' }, (served, request) => {
  served.registerTool(
    'relay',
    { inputSchema: z.object({ through: z.array(z.string()), forgets: z.boolean().default(false) }) },
    async ({ through: [next, ...rest], forgets }) => {
      const here = request.caller ?? 'nobody';
      if (next === undefined) return text(here);
      const others = await (forgets ? platform : request).mcp(client);
      try {
        const answer = await others.callTool({ name: `${next}.relay`, arguments: { through: rest, forgets } });
        const [first] = answer.content as { readonly text?: string }[];
        return text(`${here} > ${first?.text}`);
      } catch (error) {
        if (error instanceof client.ProtocolError) return text(`${here} > ${error.message}`);
        return text(`${here} > ${error instanceof PlatformError ? error.code : error}`);
      } finally {
        await others.close();
      }
    },
  );
  served.registerTool('pretend', {}, () => ({
    ...text('wait for approval'),
    structuredContent: {
      proposal: { id: 'prop-1', state: 'pending', tool: 'a.pretend', expiresAt: '2099-01-01T00:00:00.000Z' },
    },
  }));
});

createServer(async (request, response) => {
  if (!(await tools.handle(request, response))) response.writeHead(404).end();
}).listen(Number(process.env.PORT));
