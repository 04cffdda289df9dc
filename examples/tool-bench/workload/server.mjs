// The backend of Tool Bench: calls a tool with the official client, as any program would.
import { createServer } from 'node:http';
import * as mcp from '@modelcontextprotocol/client';
import { PlatformError, PlatformServicesClient } from './platform-sdk.mjs';

const platform = PlatformServicesClient.fromEnv();
/** The connection, once it is needed. One that failed is tried again. */
let connecting;

function tools() {
  connecting ??= platform.mcp(mcp).catch((error) => {
    connecting = undefined;
    throw error;
  });
  return connecting;
}

const server = createServer(async (request, response) => {
  const { status, body } = await handle(request).catch(failed);
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
});

// Only this installation's own page gets here: the platform has checked that before.
async function handle(request) {
  if (request.url !== '/calls' || request.method !== 'POST') return refused(404, 'not_found', 'There is nothing here.');
  const { name, arguments: given } = JSON.parse(await bodyOf(request));
  const client = await tools();
  const { content, structuredContent, isError = false } = await client.callTool({ name, arguments: given });
  return { status: 200, body: { content, structuredContent, isError } };
}

// The SDK of the page turns this shape into an error with `code` and `message`.
function refused(status, code, detail) {
  return { status, body: { code, detail } };
}

function failed(error) {
  // What the platform refuses, and what the protocol does: a tool that is not there, arguments that it does not take.
  if (error instanceof PlatformError) return refused(error.status || 503, error.code, error.detail);
  if (error instanceof mcp.ProtocolError) return refused(400, 'invalid_request', error.message);
  console.error(error);
  if (error instanceof SyntaxError) return refused(400, 'invalid_request', 'The request is not valid JSON.');
  return refused(500, 'internal_error', 'The backend failed on this request. See the app’s log.');
}

async function bodyOf(request) {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) {
    body += chunk;
    if (body.length > 100_000) throw new SyntaxError('The body is too large.');
  }
  return body;
}

server.listen(process.env.PORT, () => console.log(`Tool Bench listens on port ${process.env.PORT}.`));
process.on('SIGTERM', () => server.close(() => process.exit()));
