// PLATFORM_PUBLISHERS: who may publish, refused before the upload is read; what is published stays.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { registerAccount, type TestAccount } from '../../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';
import { problemCode, rawRequest } from '../../../../../tests/support/raw-http.ts';
import { publish } from '../../../test-support/apps.ts';

/** Of an upload that never arrives: a refusal does not wait for it. */
const LARGE = 100 * 1024 * 1024;

let platform: Constellation;
const accounts = new Map<string, TestAccount>();

before(async () => {
  platform = await startConstellation({ config: { masterAccount: 'landlord' } });
  for (const name of ['landlord', 'anna', 'bert']) accounts.set(name, await registerAccount(platform, name));
  await publish(accounts.get('bert') ?? assert.fail(), 'berts-app');
});
after(() => platform.close());

/** @param bytes that the upload says it has; four are sent. @returns status and code of the answer */
async function tryPublish(
  port: number,
  name: string,
  bytes: number,
  appId = `${name}s-next`,
): Promise<[number, string]> {
  const { cookie } = accounts.get(name) ?? assert.fail();
  const answer = await rawRequest({
    port,
    method: 'PUT',
    path: `/v1/catalog/${appId}/versions/2.0.0`,
    headers: {
      host: new URL(platform.origin).host,
      origin: platform.origin,
      cookie,
      'content-type': 'application/gzip',
      'content-length': String(bytes),
    },
    body: Buffer.from('none'),
  });
  if (answer.status === 403) assert.match(answer.text, new RegExp(`${name} may not publish .*PLATFORM_PUBLISHERS`));
  return [answer.status, problemCode(answer)];
}

test('everybody, the master account alone, or those who are named', async () => {
  const settings = [
    ['everyone', ['landlord', 'anna', 'bert']],
    ['master', ['landlord']],
    [
      ['anna', 'landlord'],
      ['landlord', 'anna'],
    ],
    [['anna'], ['anna']],
  ] as const;
  for (const [publishers, allowed] of settings) {
    const config = { ...platform.core.context.config, publishers, listenPort: 0 };
    const { port } = await platform.replica({ config });
    for (const name of accounts.keys()) {
      const may = (allowed as readonly string[]).includes(name);
      // What is sent is no package: whoever may publish learns that.
      const bytes = may ? 4 : LARGE;
      const expected = may ? [400, 'invalid_request'] : [403, 'not_authorized'];
      assert.deepEqual(await tryPublish(port, name, bytes), expected, `${publishers}: ${name}`);
    }
  }
});

test('what was published stays, and takes no further version', async () => {
  const config = { ...platform.core.context.config, publishers: 'master', listenPort: 0 } as const;
  const { port } = await platform.replica({ config });
  assert.deepEqual(await tryPublish(port, 'bert', LARGE, 'berts-app'), [403, 'not_authorized']);
  const anna = accounts.get('anna') ?? assert.fail();
  assert.equal((await anna.fetch('/v1/apps', { body: { appId: 'berts-app' } })).status, 201);
});
