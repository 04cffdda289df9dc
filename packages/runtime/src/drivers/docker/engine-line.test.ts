// Who leaves waits for an engine that answers, and for no other.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { inspect } from 'node:util';
import { openEngine } from './engine.ts';
import { openEngineLine } from './engine-line.ts';

const PATIENCE = { silence: 300, limit: 60_000 };

/** An engine of which only the ping is known; everything else waits for ever. */
async function standIn(context: TestContext, ping: 'answered' | 'not answered'): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'line-'));
  const socketPath = join(folder, 'engine.sock');
  const server = http.createServer((req, res) => {
    if (ping === 'answered' && req.url === '/_ping') res.end('OK');
  });
  server.listen(socketPath);
  await once(server, 'listening');
  context.after(() => {
    server.close();
    server.closeAllConnections();
    rmSync(folder, { recursive: true, force: true });
  });
  return socketPath;
}

test('what was asked of an engine that does not answer fails, and so does what is asked then', async (context) => {
  const line = openEngineLine(PATIENCE);
  const engine = await openEngine(await standIn(context, 'not answered'), line);
  const asked = assert.rejects(engine.listContainers());
  line.leave(() => engine.ping());
  await asked;
  assert.ok(line.cut.aborted);
  await assert.rejects(engine.listContainers(), /does not answer/);
});

test('an engine that is dead is waited for as long as for one that is silent', async () => {
  const line = openEngineLine(PATIENCE);
  const engine = await openEngine('/nowhere/engine.sock', line);
  const began = performance.now();
  line.leave(() => engine.ping());
  await once(line.cut, 'abort');
  assert.ok(performance.now() - began >= PATIENCE.silence - 1);
});

test('an engine that answers pings and nothing else is left at the limit', async (context) => {
  const line = openEngineLine({ silence: 60_000, limit: 300 });
  const engine = await openEngine(await standIn(context, 'answered'), line);
  const asked = assert.rejects(engine.listContainers());
  let answers = 0;
  line.leave(async () => {
    await engine.ping();
    answers += 1;
  });
  await asked;
  assert.ok(line.cut.aborted && answers > 0);
});

test('what the client writes about a line for a debug output is short, whatever is connected', async (context) => {
  const line = openEngineLine(PATIENCE);
  context.after(() => line.close());
  await (await openEngine(await standIn(context, 'answered'), line)).ping();
  // As docker-modem asks for it, before each request.
  assert.ok(inspect(line.agent, { showHidden: true, depth: null }).length < 100);
});
