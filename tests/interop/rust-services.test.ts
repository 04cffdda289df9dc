// AI providers and outside services from Rust: the example program, with the environment of a workload, through a real
// Gateway and core to scripted services over TLS.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { startIntelligenceWorld } from '../support/intelligence-world.ts';
import { GATEWAY_CREDENTIAL, SECRET, startOutboundWorld } from '../support/outbound-world.ts';
import { buildRustPrograms } from '../support/rust.ts';

const run = promisify(execFile);
const RUN_MS = 60_000;

/** Before the first test, whose limit does not fit a first build. */
const rust = await buildRustPrograms();

/** What the program prints, or how it says that it failed. */
function program(environment: Readonly<Record<string, string>>, ...given: readonly string[]): Promise<string> {
  if (rust.missing !== null) throw new Error(rust.missing);
  return run(rust.program('services'), given, { env: environment, timeout: RUN_MS }).then(
    ({ stdout }) => stdout.trim(),
    (error: { stderr: string }) => error.stderr.trim(),
  );
}

test('a model answers a program in Rust, within its grant', async (t) => {
  if (rust.missing !== null) return t.skip(rust.missing);
  const world = await startIntelligenceWorld();
  t.after(() => world.close());
  const { environment } = await world.openApp('asker', ['openai:small']);
  assert.equal(await program(environment, 'ask', 'openai', 'small', 'Say hello.'), 'Hello from the scripted provider');
  assert.match(await program(environment, 'ask', 'openai', 'large', 'Say hello.'), /^grant_missing: /);
  assert.match(await program(environment, 'ask', 'nobody', 'small', 'Say hello.'), /^not_found: /);
});

test('an outside service answers a program in Rust, which never sees the secret', async (t) => {
  if (rust.missing !== null) return t.skip(rust.missing);
  const world = await startOutboundWorld();
  t.after(() => world.close());
  const environment = {
    PLATFORM_API_URL: `http://127.0.0.1:${world.port}`,
    PLATFORM_GATEWAY_TOKEN: GATEWAY_CREDENTIAL,
  };
  assert.equal(await program(environment, 'call', 'base', 'issues?state=open'), '200 {"ok":true}');
  const arrived = world.upstream.arrived.at(-1);
  assert.deepEqual([arrived?.method, arrived?.target], ['GET', '/base/issues?state=open']);
  assert.ok(arrived?.rawHeaders.includes(`Bearer ${SECRET}`));
  assert.match(await program(environment, 'call', 'unbound', 'x'), /^not_authorized: /);
  const problem = JSON.stringify({ type: 'https://api.example/errors/7', code: 'not_found', detail: 'none' });
  world.upstream.answer = (_request, response) =>
    void response.writeHead(404, { 'content-type': 'application/problem+json' }).end(problem);
  assert.equal(await program(environment, 'call', 'base', 'x'), `404 ${problem}`);
});
