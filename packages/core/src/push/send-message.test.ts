// An endpoint's name may resolve to anything, and to something else the next time: only publicly routable addresses are
// connected to, and the address that was checked is the one that is used.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { notificationId } from '@platform/contract';
import { createDialer, type Resolve } from '@platform/http';
import { type PushService, startPushService } from '../../../../tests/support/push-service.ts';
import { type Outcome, PushSender } from './send-message.ts';

const PUBLIC = '93.184.215.14';

let service: PushService;
before(async () => {
  service = await startPushService();
});
after(() => service.close());

/** What `send` makes of an endpoint on the test's push service under some host, without the operator's permission. */
async function send(host: string, resolve: Resolve, privateOrigins: string[] = [], to = service): Promise<Outcome> {
  const browser = to.newBrowser();
  const { endpoint, keys } = browser.body;
  const url = new URL(endpoint);
  url.hostname = host;
  const vapid = {
    publicKey: 'BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs',
    privateKey: Buffer.alloc(32, 7).toString('base64url'),
  };
  const options = { keys: vapid, subject: 'mailto:a@example.org', clock: () => new Date(), ca: service.ca };
  const sender = new PushSender({ ...options, privateOrigins, dialer: createDialer({ resolve }) });
  const id = notificationId.parse('ntf-01890a5d-ac96-774b-bcce-b302099a8057');
  const payload = {
    id,
    appId: 'app',
    appName: 'A',
    title: 'T',
    body: '',
    tone: 'neutral',
    priority: 'normal',
  } as const;
  const message = { payload, ttl: 60, topic: null } as const;
  try {
    const address = { endpoint: url.href, ...keys };
    return await sender.send(address, { ...message, urgency: 'normal' });
  } finally {
    await sender.close();
  }
}

const refused: Outcome = { kind: 'refused', why: 'its address is not publicly routable' };

const resolutions: readonly [what: string, addresses: readonly string[]][] = [
  ['loopback', ['127.0.0.1']],
  ['a private address', ['10.0.0.5']],
  ['metadata of a cloud', ['169.254.169.254']],
  ['a public address and loopback beside it', [PUBLIC, '127.0.0.1']],
  ['loopback as IPv6', ['::1']],
  ['nothing', []],
];
for (const [what, addresses] of resolutions) {
  test(`a name that resolves to ${what} is not connected to`, async () => {
    const before = service.connections;
    assert.deepEqual(await send('push.example.net', async () => addresses), refused);
    assert.equal(service.connections, before);
  });
}

test('an address in the endpoint itself is checked too', async () => {
  const never: Resolve = () => Promise.reject(new Error('an address is not looked up'));
  const before = service.connections;
  for (const host of ['127.0.0.1', '[::1]', '10.0.0.5']) assert.deepEqual(await send(host, never), refused, host);
  assert.equal(service.connections, before);
});

test('the origin that the operator named is reached wherever it is, and no other port of it', async () => {
  const never: Resolve = () => Promise.reject(new Error('not asked'));
  // Its token is signed with another key than it says, which the service sees: so it was reached.
  assert.deepEqual(await send('127.0.0.1', never, [service.origin]), { kind: 'refused', why: 'status 400' });
  assert.deepEqual(await send('127.0.0.1', never, [`https://127.0.0.1:${service.port + 1}`]), refused);
});

test('a certificate that no authority vouches for is not accepted', async () => {
  const other = await startPushService();
  try {
    const outcome = await send('127.0.0.1', async () => [], [other.origin], other);
    assert.equal(outcome.kind, 'later');
    assert.deepEqual(other.faults, [], 'it saw no request');
  } finally {
    await other.close();
  }
});
