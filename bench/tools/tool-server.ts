// A server of tools as the official package makes one: with one function, or with as many as a list of an account may have. It listens at
// `PORT`, by default at one that is free, which it prints.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import * as z from 'zod';

const given = z.strictObject({ text: z.string().max(100) });
const inputSchema = z.toJSONSchema(given) as { type: 'object' };
const tools = Array.from({ length: Number(process.env.TOOLS ?? '1') }, (_, index) => ({
  ...{ name: `echo-${index}`, description: 'Answers with what it was given.', inputSchema },
}));

const handler = createMcpHandler(() => {
  const server = new Server({ name: 'bench', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools }));
  server.setRequestHandler('tools/call', ({ params }) => ({
    content: [{ type: 'text', text: given.parse(params.arguments).text }],
  }));
  return server;
});

const server = createServer(async (request, response) => {
  const body = await buffer(request);
  const headers = Object.entries(request.headers).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  const method = request.method ?? 'GET';
  const answer = await handler.fetch(
    new Request(`http://bench.invalid${request.url}`, { method, headers, ...(method === 'POST' ? { body } : {}) }),
  );
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (answer.body === null) response.end();
  else Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]).pipe(response);
}).listen(Number(process.env.PORT ?? '0'), '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`);
});
