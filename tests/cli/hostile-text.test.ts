// The operator's commands against a platform where a workload, a package and a node say what would steer a terminal:
// none of it is printed.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { registerAccount } from '../support/client.ts';
import { ask } from '../support/embedded-postgres.ts';
import {
  databaseUrlOf,
  type PlatformPlace,
  type PlatformProcess,
  platformPlace,
  startPlatform,
} from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { until } from '../support/wait.ts';

const CLI = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url));
/** What the Runtime's log store takes out itself is C0 and C1; the rest reaches core as a node sends it. */
const SAID = 'begin\u001b]0;title\u0007 \u202egnp.exe \u2066hidden\u2069 \u009b2J end';
const WORKLOAD = `
  console.log(${JSON.stringify(SAID)});
  process.getBuiltinModule('node:http').createServer((req, res) => res.end('ok')).listen(Number(process.env.PORT));
`;
const STEERING = /(?![\n])[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

let place: PlatformPlace;
let platform: PlatformProcess | undefined;

before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
  const account = await registerAccount(place, 'anna');
  const workload = { runtime: 'node', entry: 'main.mjs' };
  await publishTestApp(account, 'loud', { workload }, { 'workload/main.mjs': WORKLOAD, 'frontend/index.html': 'x' });
  await account.browser.take('/v1/apps', { body: { appId: 'loud' } });
  await account.fetch('/v1/apps/loud/start', { body: {} });
  await until('the line to be logged', async () =>
    (await run(['logs', 'anna/loud'])).includes('end') ? true : undefined,
  );
});
after(async () => {
  await platform?.stop();
  await place.remove();
});

/** Both streams of a command. */
function run(args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, [CLI, ...args], { env: place.environment }, (_error, out, error) =>
      resolve(out + error),
    );
  });
}

test('a log is printed without what would steer the terminal or reverse its line', async () => {
  const said = await run(['logs', 'anna/loud']);
  assert.match(said, /begin.*gnp\.exe.*hidden.*end/);
  assert.doesNotMatch(said, STEERING, JSON.stringify(said));
  const json = await run(['logs', 'anna/loud', '--json']);
  assert.doesNotMatch(json, STEERING, JSON.stringify(json));
  for (const line of json.trim().split('\n'))
    assert.equal(typeof (JSON.parse(line) as { line: unknown }).line, 'string');
});

test('whatever is in the database, no list of it steers the terminal', async () => {
  const databaseUrl = await databaseUrlOf(place);
  const harmful = "E'x\\u001b]0;title\\u0007\\u202ey\\nz'";
  await ask(databaseUrl, `UPDATE nodes SET version = ${harmful}, driver = ${harmful}, mechanism = ${harmful}`);
  await ask(databaseUrl, `UPDATE installation_status SET reason = ${harmful}, state = 'failed'`);
  for (const args of [['node', 'list'], ['ps'], ['ps', '--json'], ['node', 'rules'], ['doctor']]) {
    const said = await run(args);
    assert.doesNotMatch(said, STEERING, `${args.join(' ')}: ${JSON.stringify(said)}`);
  }
  const [heading = '', row = '', ...more] = (await run(['node', 'list'])).trim().split('\n');
  assert.match(heading, /^NAME/);
  assert.match(row, /x.*title.*y z/);
  assert.deepEqual(more, [], 'one line for one node');
});

test('what is wrong with a name or an option is said without the escapes in it', async () => {
  for (const args of [['logs', 'a\u001b[31m\u202eb'], ['\u001b]0;x\u0007'], ['publish', '/nonexistent\u001b[2J']]) {
    const said = await run(args);
    assert.ok(said.length > 10);
    assert.doesNotMatch(said, STEERING, JSON.stringify(said));
  }
});
