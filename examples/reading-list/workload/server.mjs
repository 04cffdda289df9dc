// The backend of Reading List: answers its own page, and the platform when another app uses a tool.
import { createServer } from 'node:http';
import { PlatformServicesClient } from './platform-sdk.mjs';
import { ReadingFile } from './reading-file.mjs';
import { serveTools } from './tools.mjs';

const readings = new ReadingFile(process.env.PLATFORM_VOLUME_DIR);
const tools = serveTools(PlatformServicesClient.fromEnv(), readings);

const server = createServer(async (request, response) => {
  if (await tools.handle(request, response)) return;
  const { status, body } = await handle(request).catch(failed);
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
});

// Only this installation's own page gets here: the platform has checked that before.
async function handle(request) {
  const [, collection, id] = request.url.split('/');
  if (collection !== 'readings') return refused(404, 'not_found', 'There is nothing here.');
  if (request.method === 'GET') return { status: 200, body: { entries: await readings.all() } };
  if (request.method === 'POST') return add(JSON.parse(await bodyOf(request)));
  if (request.method === 'DELETE') {
    await readings.remove(id);
    return { status: 200, body: {} };
  }
  return refused(405, 'method_not_allowed', 'This method is not offered.');
}

async function add({ title, url }) {
  if (typeof title !== 'string' || title.trim() === '' || title.length > 200)
    return refused(400, 'invalid_request', 'A title has 1 to 200 characters.');
  const address = typeof url === 'string' && /^https?:/.test(url) && URL.canParse(url) ? url.slice(0, 2_000) : null;
  return { status: 201, body: { entry: await readings.add({ title: title.trim(), url: address, addedBy: null }) } };
}

// The SDK of the page turns this shape into an error with `code` and `message`.
function refused(status, code, detail) {
  return { status, body: { code, detail } };
}

function failed(error) {
  console.error(error);
  if (error instanceof SyntaxError) return refused(400, 'invalid_request', 'The request is not valid JSON.');
  return refused(500, 'internal_error', 'The backend failed on this request. See the app’s log.');
}

async function bodyOf(request) {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) {
    body += chunk;
    if (body.length > 10_000) throw new SyntaxError('The body is too large.');
  }
  return body;
}

server.listen(process.env.PORT, () => console.log(`Reading List listens on port ${process.env.PORT}.`));
process.on('SIGTERM', () => server.close(() => process.exit()));
