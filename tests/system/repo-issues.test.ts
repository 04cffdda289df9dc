// The example Repository Issues on a whole platform, its GitHub a scripted upstream on loopback: what it says without a
// token, and what it does with one.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { SecretBinding } from '@platform/contract';
import { type AskBackend, openBackend } from '../support/backend.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { publishExample } from '../support/publish.ts';
import type { RawAnswer } from '../support/raw-http.ts';
import { startTlsUpstream, type TlsUpstream } from '../support/tls-upstream.ts';

const APP = 'repo-issues-here';
const TOKEN = 'canary-example-token-77aa';

let upstream: TlsUpstream;
let place: PlatformPlace;
let platform: PlatformProcess;
let account: TestAccount;
let backend: AskBackend;
const issues = [{ number: 1, title: 'First' }];

before(async () => {
  upstream = await startTlsUpstream();
  upstream.answer = (req, res, { target, body }) => {
    const answer = (status: number, value: unknown) =>
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (req.headers.authorization !== `Bearer ${TOKEN}`) answer(401, { message: 'Bad credentials' });
    else if (!target.startsWith('/repos/octocat/hello/issues')) answer(404, { message: 'Not Found' });
    else if (req.method === 'GET') answer(200, issues);
    else {
      const issue = { number: issues.length + 1, title: (JSON.parse(body) as { title: string }).title };
      issues.push(issue);
      answer(201, issue);
    }
  };
  place = await platformPlace({
    PLATFORM_OUTBOUND_PRIVATE_ORIGINS: upstream.origin,
    PLATFORM_OUTBOUND_CA_FILE: upstream.caFile,
  });
  platform = await startPlatform(place);
  account = await registerAccount(platform, 'tester');
  await publishExample(account, APP, {
    example: 'repo-issues',
    change: (manifest) => JSON.parse(JSON.stringify(manifest).replaceAll('https://api.github.com', upstream.origin)),
  });
  await account.browser.take('/v1/apps', { body: { appId: APP } });
  backend = await openBackend(place, account, APP);
});
after(async () => {
  await platform?.stop();
  await upstream?.close();
  await place?.remove();
});

/** As its page asks it. */
function ask(repository: string, title?: string): Promise<RawAnswer> {
  return backend(`/issues?repository=${encodeURIComponent(repository)}`, title === undefined ? undefined : { title });
}

test('without a token it says where to choose one', async () => {
  const answer = await ask('octocat/hello');
  assert.equal(answer.status, 403, answer.text);
  assert.match(answer.text, /has no secret.*Settings/);
});

test('with a token it reads and files issues, and says what GitHub refuses', async () => {
  await account.fetch('/v1/account/secrets/token', { method: 'PUT', body: { value: TOKEN } });
  const list = `/v1/apps/${APP}/secret-bindings`;
  const [slot] = (await account.browser.take<{ items: SecretBinding[] }>(list)).items;
  const body = { secret: 'token', declarationHash: slot?.declarationHash };
  await account.browser.take(`${list}/github`, { method: 'PUT', body });
  assert.deepEqual((await ask('octocat/hello')).json, { issues: [{ number: 1, title: 'First' }] });
  assert.deepEqual((await ask('octocat/hello', 'Second')).json, { number: 2 });
  assert.equal(upstream.arrived.at(-1)?.target, '/repos/octocat/hello/issues');
  assert.equal((await ask('octocat/none')).status, 404);
  assert.equal((await ask('../../x')).status, 400);
  await account.fetch('/v1/account/secrets/token', { method: 'PUT', body: { value: 'revoked' } });
  assert.match((await ask('octocat/hello')).text, /Replace it in Settings/);
});
