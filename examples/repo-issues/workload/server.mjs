// The backend of Repository Issues. It holds no token: the platform adds it to what goes through the slot "github".
import { PlatformError, PlatformServicesClient } from './platform-sdk.mjs';

const { createServer } = process.getBuiltinModule('node:http');
const github = PlatformServicesClient.fromEnv().outbound('github');
const REPOSITORY = /^[\w-][\w.-]*\/[\w-][\w.-]*$/;

const server = createServer(async (request, response) => {
  const { status, body } = await handle(request).catch(failed);
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
});

// Only this installation's own page gets here: the platform has checked that before.
async function handle(request) {
  const { pathname, searchParams } = new URL(request.url, 'http://self');
  const repository = searchParams.get('repository') ?? '';
  if (pathname !== '/issues') return refused(404, 'not_found', 'There is nothing here.');
  if (!REPOSITORY.test(repository)) return refused(400, 'invalid_request', 'Name a repository, such as octocat/hello.');
  if (request.method === 'GET') return list(repository);
  if (request.method === 'POST') return file(repository, JSON.parse(await bodyOf(request)));
  return refused(405, 'method_not_allowed', 'This method is not offered.');
}

async function list(repository) {
  const answer = await github.request(`/${repository}/issues?state=open&per_page=20`, { headers: own() });
  if (!answer.ok) return said(answer);
  const issues = await answer.json();
  return { status: 200, body: { issues: issues.map(({ number, title }) => ({ number, title })) } };
}

async function file(repository, { title }) {
  if (typeof title !== 'string' || title.trim() === '' || title.length > 200)
    return refused(400, 'invalid_request', 'A title has 1 to 200 characters.');
  const answer = await github.request(`/${repository}/issues`, {
    method: 'POST',
    headers: { ...own(), 'content-type': 'application/json' },
    body: JSON.stringify({ title: title.trim() }),
  });
  if (!answer.ok) return said(answer);
  const { number } = await answer.json();
  return { status: 201, body: { number } };
}

function own() {
  return { accept: 'application/vnd.github+json', 'user-agent': 'repo-issues' };
}

function said({ status }) {
  if (status === 401)
    return refused(502, 'upstream_failed', 'GitHub rejected the token. Replace it in Settings → Secrets.');
  if (status === 404) return refused(404, 'not_found', 'GitHub has no such repository, or the token may not see it.');
  return refused(502, 'upstream_failed', `GitHub answered ${status}.`);
}

// The SDK of the page turns this shape into an error with `code` and `message`.
function refused(status, code, detail) {
  return { status, body: { code, detail } };
}

function failed(error) {
  // What the platform refuses, it says in words for the person: no token chosen, a permission turned off, …
  if (error instanceof PlatformError) return refused(error.status || 503, error.code, error.detail);
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

server.listen(process.env.PORT, () => console.log(`Repository Issues listens on port ${process.env.PORT}.`));
process.on('SIGTERM', () => server.close(() => process.exit()));
