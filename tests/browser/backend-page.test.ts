// What an owner reads of a backend's place: its UDP ports, and what its machine does not hold it to. On a desktop and on
// a phone, by day and by night; pictures go to SCREENSHOT_DIR, by default screenshots/.
import { strict as assert } from 'node:assert';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { freePort } from '../support/free-port.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { until } from '../support/wait.ts';
import { DEVICES, launchBrowser } from './browser.ts';
import { look } from './look.ts';
import { signedInContext } from './signed-in.ts';

const SERVER = `
  const http = process.getBuiltinModule('node:http');
  http.createServer((request, response) => response.end('here')).listen(Number(process.env.PORT));
`;
const GRANTS = [
  { id: 'endpoints.public.udp', resources: ['UDP:7777', 'UDP:auto', 'UDP:7778'] },
  // Which only containers can be given: what this machine does not give is told.
  { id: 'runtime.network-tunnel', resources: ['*'] },
];

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;
let account: TestAccount;
let firstPort: number;
/** Has the third port of the range. */
const squatter = createSocket('udp4');

before(async () => {
  firstPort = await freePort();
  squatter.bind({ address: '127.0.0.1', port: firstPort + 2, exclusive: true });
  await once(squatter, 'listening');
  place = await platformPlace({
    PLATFORM_PUBLIC_HOST: 'play.localhost',
    PLATFORM_UDP_PORT_RANGE: `${firstPort}-${Math.min(firstPort + 9, 65_535)}`,
    PLATFORM_RUNTIME_DRIVER: 'process',
  });
  platform = await startPlatform(place);
  account = await registerAccount(platform, 'player');
  const manifest = {
    workload: { runtime: 'node', entry: 'main.mjs' },
    permissions: GRANTS,
    publicPorts: [
      { name: 'game', protocol: 'udp', containerPort: 7777 },
      { name: 'voice', protocol: 'udp', containerPort: 'auto' },
      { name: 'lobby', protocol: 'udp', containerPort: 7778 },
    ],
  };
  const files = { 'frontend/index.html': '<!doctype html><title>t</title>', 'workload/main.mjs': SERVER };
  await publishTestApp(account, 'arena', manifest, files);
  await account.browser.take('/v1/apps', { body: { appId: 'arena', permissions: GRANTS } });
  browser = await launchBrowser();
});
after(async () => {
  squatter.close();
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

for (const [device, viewport] of DEVICES) {
  test(`an owner reads where a backend's UDP ports are and what its machine does not give it, on a ${device}`, async (t) => {
    const context = await signedInContext({ browser, platform, account }, viewport);
    t.after(() => context.close());
    const page = await context.newPage();
    await account.browser.take('/v1/apps/arena/stop', { method: 'POST' });
    await page.goto(`${platform.origin}/#/settings/apps/arena`);
    const start = page.getByRole('button', { name: 'Start' });
    await start.waitFor();

    // With the keyboard alone.
    await start.focus();
    await page.keyboard.press('Enter');
    const ports = page.getByRole('region', { name: 'UDP ports' });
    await ports.getByText('port 7777 inside').waitFor();
    const [game, voice, lobby, ...more] = await ports.getByRole('listitem').allInnerTexts();
    assert.deepEqual(game?.split('\n'), ['game', `play.localhost:${firstPort}`, 'port 7777 inside']);
    assert.deepEqual(voice?.split('\n'), ['voice', `play.localhost:${firstPort + 1}`, 'the same port inside']);
    assert.deepEqual(
      lobby
        ?.split('\n')
        .map((text) => text.trim())
        .slice(0, 2),
      ['lobby', 'Not open'],
    );
    assert.match(lobby ?? '', new RegExp(`Port ${firstPort + 2} of this machine is taken by another program\\.`));
    assert.deepEqual(more, []);
    const missing = page.getByRole('region', { name: 'Limitations on this machine' });
    const sentences = await missing.getByRole('listitem').allInnerTexts();
    assert.ok(
      sentences.includes('A network tunnel is granted, but only the docker driver provides it.'),
      `${sentences}`,
    );
    for (const sentence of sentences) assert.match(sentence, /^[A-Z].*\.$/);
    await page.getByRole('button', { name: 'See its log' }).scrollIntoViewIfNeeded();
    await look(page, device, 'backend');

    await page.getByRole('button', { name: 'Stop' }).focus();
    await page.keyboard.press('Enter');
    // Whoever has the address keeps it.
    const atRest = `game\nplay.localhost:${firstPort}\nIt opens when the backend runs.`;
    await until('the ports to rest', async () => (await ports.getByRole('listitem').allInnerTexts())[0] === atRest);
    assert.equal(await ports.getByText('Not open').count(), 0);
    await look(page, device, 'backend-at-rest');
  });
}
