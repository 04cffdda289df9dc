// A backend that serves tools with the official package, in all revisions that it knows.
import { createServer, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';

const notes: string[] = [];
let grown = false;
let cancelled = 0;
let calls = 0;
let holding = 0;

function serverFor(head: IncomingMessage['headers']): McpServer {
  const server = new McpServer({ name: 'notes', version: '1.0.0' });
  const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] });
  server.registerTool(
    'add',
    {
      title: 'Add a note',
      description: 'Keeps a note.\u202e hidden \u0007',
      inputSchema: z.strictObject({ note: z.string().max(100) }),
      outputSchema: z.object({ count: z.number() }),
      annotations: { destructiveHint: false },
    },
    ({ note }) => {
      calls += 1;
      notes.push(note);
      return {
        ...text('kept'),
        structuredContent: { count: notes.length },
        _meta: { 'platform/approval': 'none', own: 1 },
      };
    },
  );
  server.registerTool('caller', { inputSchema: z.strictObject({}) }, () =>
    text(
      JSON.stringify({
        caller: head['platform-caller'],
        chain: head['platform-tool-chain'],
        authorization: head.authorization,
      }),
    ),
  );
  server.registerTool('count', { annotations: { readOnlyHint: true } }, () =>
    text(JSON.stringify({ calls, cancelled, holding })),
  );
  server.registerTool(
    'steps',
    { inputSchema: z.strictObject({ steps: z.number() }) },
    async ({ steps }, { mcpReq }) => {
      for (let step = 1; step <= steps; step += 1) {
        const { progressToken } = mcpReq._meta ?? {};
        if (progressToken !== undefined)
          await mcpReq.notify({
            method: 'notifications/progress',
            params: { progressToken, progress: step, total: steps },
          });
      }
      return text('done');
    },
  );
  server.registerTool('hold', {}, async ({ mcpReq }) => {
    holding += 1;
    await new Promise<void>((resolve) => {
      mcpReq.signal.addEventListener('abort', () => resolve());
    });
    cancelled += 1;
    return text('never read');
  });
  server.registerTool('picture', {}, () => ({
    content: [
      { type: 'image' as const, data: 'aGVsbG8=', mimeType: 'image/png' },
      { type: 'resource_link' as const, uri: 'notes://1', name: 'one' },
    ],
  }));
  server.registerTool('grow', {}, () => {
    grown = true;
    return text('grown');
  });
  if (grown) server.registerTool('new-one', {}, () => text('new'));
  return server;
}

const handlers = (head: IncomingMessage['headers']) => createMcpHandler(() => serverFor(head));

createServer(async (request, response) => {
  const body = await buffer(request);
  const headers = Object.entries(request.headers).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  const over = new AbortController();
  response.on('close', () => over.abort());
  const method = request.method ?? 'GET';
  const given = new Request(`http://notes.test${request.url}`, {
    ...{ method, headers, signal: over.signal },
    ...(method === 'POST' ? { body } : {}),
  });
  const answer = await handlers(request.headers).fetch(given);
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (answer.body === null) response.end();
  else Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]).pipe(response);
}).listen(Number(process.env.PORT));
