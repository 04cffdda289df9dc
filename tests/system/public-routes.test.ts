// Public routes on the whole platform, as `npm start` runs it: an app serves strangers at the address that its owner sees,
// and serves them again after a part was killed. What passes, and what closing a route ends: public-requests.test.ts.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { registerAccount, type TestAccount } from '../support/client.ts';
import {
  killPart,
  type PlatformPlace,
  type PlatformProcess,
  platformPlace,
  startPlatform,
} from '../support/platform-process.ts';
import { rawRequest } from '../support/raw-http.ts';
import { installPublicApp } from '../support/real-ingress.ts';
import { until } from '../support/wait.ts';

const APP = 'front-door';
const SERVER = `
  const http = process.getBuiltinModule('node:http');
  http.createServer((req, res) => res.end(req.headers.host)).listen(Number(process.env.PORT));
`;

let place: PlatformPlace;
let platform: PlatformProcess | undefined;
let account: TestAccount;
let hostname: string;

before(async () => {
  place = await platformPlace({ PLATFORM_INGRESS_RATE: '1000', PLATFORM_INGRESS_BURST: '1000' });
  platform = await startPlatform(place);
  account = await registerAccount(place, 'host');
});
after(async () => {
  await platform?.stop();
  await place?.remove();
});

function ask() {
  const { ingressPort: port } = place;
  return rawRequest({ port, path: '/feed/a', headers: { host: `${hostname}:${port}` } });
}

test('the first request of a stranger wakes the app, at the address that its owner sees', async () => {
  const address = await installPublicApp(account, APP, { workload: SERVER, routes: ['GET:/feed/*'] });
  hostname = address.hostname;
  assert.equal(address.url, `http://${hostname}:${place.ingressPort}`);
  await until('the Ingress to know the name', async () => (await ask()).status !== 421);
  const { status, text } = await ask();
  assert.deepEqual([status, text], [200, hostname]);
});

for (const part of ['Ingress', 'Node', 'Core'] as const)
  test(`the app serves strangers again after ${part} was killed`, async () => {
    await killPart(place, part);
    await until('the app to serve', async () => {
      const answer = await ask().catch(() => undefined);
      if (answer !== undefined && answer.status !== 200) assert.ok(answer.status === 503, answer.text);
      return answer?.status === 200;
    });
  });

test('an uninstalled app is an unknown name', async () => {
  const { status } = await account.fetch(`/v1/apps/${APP}`, { method: 'DELETE' });
  assert.equal(status, 204);
  // Core has just come back, and an Ingress that it could not tell may need a moment; the node refuses until then.
  await until('the name to be unknown', async () => {
    const answer = await ask();
    assert.notEqual(answer.status, 200);
    return answer.status === 421;
  });
});
