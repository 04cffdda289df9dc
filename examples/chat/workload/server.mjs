// The backend of Chat: the stock client of OpenAI, which finds the provider in the variables that the platform sets. The
// key there is this app's own credential; the provider's key stays with the platform.
import OpenAI from 'openai';

const { createServer } = process.getBuiltinModule('node:http');
const client = clientFrom(process.env);

const NO_PROVIDER =
  'This platform has no AI provider for Chat yet. Its operator can add one: docs/operators.md, “AI providers”. Settings → AI then lists it.';

/** The operator chooses the names: those that the client reads by itself, or else PROVIDER_A. */
function clientFrom({ OPENAI_BASE_URL, PROVIDER_A_BASE_URL, PROVIDER_A_API_KEY }) {
  if (OPENAI_BASE_URL) return new OpenAI();
  if (PROVIDER_A_BASE_URL) return new OpenAI({ baseURL: PROVIDER_A_BASE_URL, apiKey: PROVIDER_A_API_KEY });
  return null;
}

const server = createServer((request, response) => {
  handle(request, response).catch((error) => {
    const { status, code, detail } = problemOf(error);
    // The SDK of the page turns this shape into an error with `code` and `message`.
    if (!response.headersSent) return json(response, status, { code, detail });
    response.end(`${JSON.stringify({ problem: detail })}\n`);
  });
});

// Only this installation's own page gets here: the platform has checked that before.
async function handle(request, response) {
  if (client === null) throw new Problem(503, 'unavailable', NO_PROVIDER);
  if (request.method === 'GET' && request.url === '/models') return json(response, 200, { models: await chatModels() });
  if (request.method === 'POST' && request.url === '/answer')
    return answer(JSON.parse(await bodyOf(request)), response);
  throw new Problem(404, 'not_found', 'There is nothing here.');
}

/** Those that the owner granted, without the ones that by their names do something else. */
async function chatModels() {
  const { data } = await client.models.list();
  const other = /embed|whisper|transcribe|tts|audio|realtime|image|dall-e|sora|moderation/;
  return data.map(({ id }) => id).filter((id) => !other.test(id));
}

/** A line of JSON for each piece of the answer, as it arrives, and one for the tokens it took. */
async function answer({ model, messages }, response) {
  const leaving = new AbortController();
  response.on('close', () => leaving.abort());
  const stream = await client.chat.completions.create(
    { model, messages, stream: true, stream_options: { include_usage: true } },
    { signal: leaving.signal },
  );
  response.writeHead(200, { 'content-type': 'application/jsonl' });
  for await (const { choices, usage } of stream) {
    const [choice] = choices;
    if (choice?.delta.content) response.write(`${JSON.stringify({ text: choice.delta.content })}\n`);
    if (choice?.finish_reason === 'length') response.write(`${JSON.stringify({ cut: true })}\n`);
    if (usage) response.write(`${JSON.stringify({ tokens: usage.total_tokens })}\n`);
  }
  response.end();
}

class Problem extends Error {
  constructor(status, code, detail) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

function problemOf(error) {
  if (error instanceof Problem) return { status: error.status, code: error.code, detail: error.message };
  if (error instanceof SyntaxError)
    return { status: 400, code: 'invalid_request', detail: 'The request is not valid JSON.' };
  console.error(error);
  if (error instanceof OpenAI.APIError && error.error) return refusalOf(error);
  return { status: 502, code: 'upstream_failed', detail: 'The answer broke off. Try again.' };
}

/** What the platform refuses, it says in words for the person: a budget that is gone, a missing key or permission. */
function refusalOf({ status, code, error }) {
  const more = code === 'budget_exhausted' ? ' Settings → AI shows its limit.' : '';
  return {
    status: status === 403 || status === 429 ? status : 502,
    code: code ?? 'upstream_failed',
    detail: error.message + more,
  };
}

function json(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function bodyOf(request) {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) {
    body += chunk;
    if (body.length > 200_000) throw new Problem(413, 'payload_too_large', 'This chat is too long.');
  }
  return body;
}

server.listen(process.env.PORT, () => console.log(`Chat listens on port ${process.env.PORT}.`));
process.on('SIGTERM', () => server.close(() => process.exit()));
