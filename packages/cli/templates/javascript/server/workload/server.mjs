// The backend. The platform starts it in a sandbox of its own and adds platform-sdk.mjs to the package. What it prints is
// the app's log.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { PlatformServicesClient } from './platform-sdk.mjs';

const platform = PlatformServicesClient.fromEnv();
// Only files on the volume survive a restart.
const file = join(process.env.PLATFORM_VOLUME_DIR, 'count');
let count = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;

// The platform checks who sends a request before it arrives here.
const server = createServer((request, response) => {
  const { status, body } = answer(request);
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
});

function answer({ method, url }) {
  // In the page, the SDK turns this shape into an error with `code` and `message`.
  if (url !== '/count') return { status: 404, body: { code: 'not_found', detail: 'There is nothing here.' } };
  if (method === 'POST') add();
  return { status: 200, body: { count } };
}

function add() {
  count += 1;
  // A crash leaves the former file or the new one, never half of one.
  writeFileSync(`${file}.new`, String(count));
  renameSync(`${file}.new`, file);
  if (count % 10 === 0) announce(count);
}

function announce(milestone) {
  platform.notifications
    .publish({ topic: 'milestones', title: `Counted to ${milestone}`, dedupeKey: `count-${milestone}` })
    // The owner may not allow notifications. The app works without them.
    .catch((error) => console.warn(`Not announced: ${error.message}`));
}

server.listen(process.env.PORT, () => console.log(`Listening on port ${process.env.PORT}.`));
process.on('SIGTERM', () => server.close(() => process.exit()));
