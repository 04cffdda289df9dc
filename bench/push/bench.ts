// Web push from the outbox to a push service over TLS: encrypted for each browser, signed, on connections that are kept.
// Core and PostgreSQL share the machine with the push service.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { limits } from '@platform/contract';
import { encryptFor } from '../../packages/core/test-support/internals.ts';
import { registerAccount } from '../../tests/support/client.ts';
import { startConstellation } from '../../tests/support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../tests/support/installed-app.ts';
import { newBrowserKeys } from '../../tests/support/push-crypto.ts';
import { atLeast, median, printRow, reported } from '../machine.ts';

const ACCOUNTS = 3;
const BROWSERS = limits.pushSubscriptions.value;
const PUBLISHES = 20;
const ROUNDS = 3;
const ENCRYPTIONS = 2_000;

const service = fork(fileURLToPath(new URL('./service.ts', import.meta.url)));
const [{ origin, ca }] = (await once(service, 'message')) as [{ origin: string; ca: string }];
const world = await startConstellation({ config: { pushPrivateOrigins: [origin] }, push: { ca } });

try {
  const apps: InstalledTestApp[] = [];
  for (let index = 0; index < ACCOUNTS; index += 1) {
    const account = await registerAccount(world, `pushed-n${index}`);
    for (let browser = 0; browser < BROWSERS; browser += 1) {
      const { p256dh, auth } = newBrowserKeys();
      const body = { endpoint: `${origin}/${index}-${browser}-${auth}`, keys: { p256dh, auth } };
      await account.browser.take('/v1/push/subscriptions', { body });
    }
    apps.push(
      await installTestApp(world, account, `pusher-n${index}`, [{ id: 'notifications.publish', resources: ['*'] }]),
    );
  }
  const rates: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const messages = ACCOUNTS * BROWSERS * PUBLISHES;
    const arrived = once(service, 'message') as Promise<[{ milliseconds: number }]>;
    service.send(messages);
    const body = { topic: 'news', title: 'A title', body: 'x'.repeat(200), delivery: 'inbox-and-web-push' };
    await Promise.all(
      Array.from({ length: PUBLISHES }, () =>
        Promise.all(apps.map((app) => app.call('/v1/services/notifications', { body }))),
      ),
    );
    const [{ milliseconds }] = await arrived;
    rates.push((messages * 1_000) / milliseconds);
  }
  printRow(
    atLeast(
      `web push from the outbox to a push service over TLS, ${ACCOUNTS * BROWSERS} browsers, all on one machine`,
      median(rates),
      'messages/s',
      1_000,
    ),
  );
  printRow(reported('encryption of such a message alone', encryptionsPerSecond(), 'messages/s'));
} finally {
  await world.close();
  service.disconnect();
}

function encryptionsPerSecond(): number {
  const keys = newBrowserKeys();
  const plain = Buffer.alloc(400, 'x');
  const start = performance.now();
  for (let index = 0; index < ENCRYPTIONS; index += 1) encryptFor(keys, plain);
  return (ENCRYPTIONS * 1_000) / (performance.now() - start);
}
