// The backend of an app that serves what the conformance suite of the protocol asks for, with the official package.
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createMcpHandler, createRequestStateCodec, McpServer } from '@modelcontextprotocol/server';
import { addPrompts } from './fixture-prompts.ts';
import { addQuestions } from './fixture-questions.ts';
import { addResources } from './fixture-resources.ts';
import { addTools, type Grown } from './fixture-tools.ts';

const states = createRequestStateCodec({ key: randomBytes(32), ttlSeconds: 600 });
const grown: Grown = { tools: 0, prompts: 0 };

function fixture(): McpServer {
  const server = new McpServer(
    { name: 'conformance-fixture', version: '1.0.0' },
    {
      capabilities: { logging: {}, completions: {}, resources: { listChanged: true }, prompts: { listChanged: true } },
      requestState: { verify: (state, context) => states.verify(state, context) },
    },
  );
  addTools(server, grown);
  addQuestions(server, (state) => states.mint(state));
  addResources(server);
  addPrompts(server, grown);
  return server;
}

const handler = createMcpHandler(fixture);

function requestOf(request: IncomingMessage, body: Buffer, over: AbortSignal): Request {
  const { method = 'GET', url = '/' } = request;
  const headers = Object.entries(request.headers).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return new Request(`http://fixture.test${url}`, {
    ...{ method, headers, signal: over },
    ...(method === 'POST' ? { body: new Uint8Array(body) } : {}),
  });
}

createServer(async (request, response) => {
  const over = new AbortController();
  response.on('close', () => over.abort());
  const answer = await handler.fetch(requestOf(request, await buffer(request), over.signal));
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (answer.body === null) response.end();
  else Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]).pipe(response);
}).listen(Number(process.env.PORT));
