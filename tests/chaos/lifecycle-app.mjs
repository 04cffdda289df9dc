// The backend that the lifecycle chaos test installs many times: it notices when another one writes to its volume.
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const http = process.getBuiltinModule('node:http');
const volume = process.env.PLATFORM_VOLUME_DIR;
const owner = join(volume, 'owner');
const doubles = join(volume, 'doubles');
const self = randomUUID();

writeFileSync(owner, self);
// A later writer puts its name there; whoever still lives to see that was one of two.
setInterval(() => {
  const now = readFileSync(owner, 'utf8');
  if (now !== self && now !== '') appendFileSync(doubles, `${self} and ${now}\n`);
}, 5);

http
  .createServer((_request, response) => response.end(existsSync(doubles) ? readFileSync(doubles) : ''))
  .listen(Number(process.env.PORT));
