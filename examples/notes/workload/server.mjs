// The backend of Notes: plain Node, started by the platform in a sandbox of its own when the page first asks for it.
import { NoteFile } from './note-file.mjs';
import { PlatformServicesClient } from './platform-sdk.mjs';

// An import of node:http would load Node's fetch too, before anybody needs it: 60 ms more until the first answer.
const { createServer } = process.getBuiltinModule('node:http');
const platform = PlatformServicesClient.fromEnv();
const notes = new NoteFile(process.env.PLATFORM_VOLUME_DIR);

const server = createServer(async (request, response) => {
  const { status, body } = await handle(request).catch(failed);
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
});

// Only this installation's own page gets here: the platform has checked that before.
async function handle(request) {
  if (request.url === '/jobs/daily-note') return dailyNote(request);
  const [, collection, id] = request.url.split('/');
  if (collection !== 'notes') return refused(404, 'not_found', 'There is nothing here.');
  if (request.method === 'GET') return { status: 200, body: { notes: await notes.all() } };
  if (request.method === 'POST') return add(JSON.parse(await bodyOf(request)));
  if (request.method === 'DELETE') {
    await notes.remove(id);
    return { status: 200, body: { problems: await attempts([() => platform.search.remove(id)]) } };
  }
  return refused(405, 'method_not_allowed', 'This method is not offered.');
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

// A schedule of the owner calls it: in the morning there is a note to write on. Only the platform sets the field.
async function dailyNote(request) {
  if (request.headers['platform-trigger'] !== 'schedule') return refused(404, 'not_found', 'There is nothing here.');
  const { scheduledFor, payload } = JSON.parse(await bodyOf(request));
  const day = new Date(scheduledFor).toLocaleDateString('en', { dateStyle: 'full', timeZone: 'UTC' });
  const about = typeof payload?.text === 'string' ? payload.text.slice(0, 1_000) : '';
  // The same call may come twice, and then has the same key: it is the id of the note.
  return keep(`${day}\n${about}`, request.headers['idempotency-key']);
}

async function add({ text }) {
  if (typeof text !== 'string' || text.trim() === '' || text.length > 10_000) {
    return refused(400, 'invalid_request', 'A note has 1 to 10,000 characters.');
  }
  return keep(text);
}

async function keep(text, id) {
  const note = await notes.add(text.trim(), id);
  // The note is safe. Whether the owner of this account allows the rest is another matter.
  const problems = await attempts([
    () =>
      platform.notifications.publish({
        topic: 'notes',
        title: 'Note saved',
        body: titleOf(note),
        presentation: { actions: [{ id: 'open', label: 'Open note', type: 'open-app', target: `?note=${note.id}` }] },
        dedupeKey: note.id,
      }),
    () => platform.search.upsert([entryOf(note)]),
  ]);
  return { status: 201, body: { note, problems } };
}

function entryOf(note) {
  return { id: note.id, title: titleOf(note), kind: 'note', url: `?note=${note.id}`, text: note.text };
}

function titleOf(note) {
  return note.text.split('\n', 1)[0].replace(/\s/g, ' ').slice(0, 100);
}

/** Runs each task, and returns in words what the platform refused. */
async function attempts(tasks) {
  const results = await Promise.allSettled(tasks.map((task) => task()));
  return results
    .filter(({ status }) => status === 'rejected')
    .map(({ reason }) => `${reason.message} (${reason.code})`);
}

async function bodyOf(request) {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) {
    body += chunk;
    if (body.length > 50_000) throw new SyntaxError('The body is too large.');
  }
  return body;
}

// What was saved while the search was not allowed becomes findable with the next start.
const problems = await attempts([async () => platform.search.replace((await notes.all()).map(entryOf))]);
for (const problem of problems) console.warn(problem);

server.listen(process.env.PORT, () => console.log(`Notes listens on port ${process.env.PORT}.`));
process.on('SIGTERM', () => server.close(() => process.exit()));
