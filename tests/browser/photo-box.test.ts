// The example Photo Box as a person meets it, in real Chromium against a whole platform whose store is Swift: what it says
// without object storage, photos added in three ways, one larger than a request may be, seen large, saved and deleted.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { CreateBucketCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import type { Browser, FrameLocator, Page } from 'playwright-core';
import { registerAccount, type TestAccount } from '../support/client.ts';
import {
  type PlatformPlace,
  type PlatformProcess,
  platformPlace,
  runCommand,
  startPlatform,
} from '../support/platform-process.ts';
import { lacksPython, type SwiftStore, startSwift } from '../support/swift-store.ts';
import { until } from '../support/wait.ts';
import { DESKTOP, launchBrowser, PHONE } from './browser.ts';
import { look } from './look.ts';
import { signedInContext } from './signed-in.ts';

const BUCKET = 'objects-of-apps';
const MiB = 1024 * 1024;
const GRANTS = [{ id: 'object-storage.raw', resources: ['self'] }];

describe('Photo Box', { skip: lacksPython('swift', 'python3-swift') }, () => {
  let swift: SwiftStore;
  let operator: S3Client;
  let folder: string;
  let place: PlatformPlace;
  let platform: PlatformProcess;
  let browser: Browser;
  let account: TestAccount;

  before(async () => {
    [swift, browser] = await Promise.all([startSwift(), launchBrowser()]);
    const { origin: endpoint, region, credentials } = swift;
    operator = new S3Client({ endpoint, region, credentials: { ...credentials }, forcePathStyle: true });
    await operator.send(new CreateBucketCommand({ Bucket: BUCKET }));
    folder = await mkdtemp(path.join(tmpdir(), 'photo-box-'));
    await writeFile(path.join(folder, 'store.json'), JSON.stringify(credentials), { mode: 0o600 });
    place = await platformPlace({
      PLATFORM_RUNTIME_DRIVER: 'process',
      PLATFORM_OBJECT_STORE_ENDPOINT: endpoint,
      PLATFORM_OBJECT_STORE_REGION: region,
      PLATFORM_OBJECT_STORE_BUCKET: BUCKET,
      PLATFORM_OBJECT_STORE_CREDENTIALS_FILE: path.join(folder, 'store.json'),
    });
    platform = await startPlatform(place);
    account = await registerAccount(platform, 'photographer');
    await account.browser.take('/v1/apps', { body: { appId: 'photo-box', permissions: GRANTS } });
  });
  after(async () => {
    await browser?.close();
    await platform?.stop();
    await place?.remove();
    operator?.destroy();
    await swift?.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  const allow = (permissions: typeof GRANTS) =>
    account.browser.take('/v1/apps/photo-box/permissions', { method: 'PUT', body: { permissions } });

  async function keys(): Promise<string[]> {
    const { Contents = [] } = await operator.send(new ListObjectsV2Command({ Bucket: BUCKET }));
    return Contents.map(({ Key = '' }) => Key.replace(/^installations\/[^/]+\//, ''));
  }

  async function open(viewport: typeof PHONE | typeof DESKTOP): Promise<{ page: Page; box: FrameLocator }> {
    const context = await signedInContext({ browser, platform, account }, viewport);
    const page = await context.newPage();
    await page.goto(`${platform.origin}/#/app/photo-box`);
    return { page, box: page.frameLocator('iframe[title="Photo Box"]') };
  }

  /** As a camera makes it, up to its colours. */
  async function photo(hue: number, name: string, bytes = 0) {
    const page = await browser.newPage({ viewport: { width: 900, height: hue % 2 === 0 ? 600 : 1200 } });
    const sky = `linear-gradient(hsl(${hue} 70% 80%), hsl(${hue} 60% 60%) 60%, hsl(${hue + 60} 40% 35%) 60%)`;
    await page.setContent(`<body style="background: ${sky}">`);
    const picture = await page.screenshot({ type: 'jpeg' });
    await page.close();
    // What follows a picture is not read.
    return { name, mimeType: 'image/jpeg', buffer: Buffer.concat([picture, randomBytes(bytes)]) };
  }

  test('without permission or plan it says what to do', async (t) => {
    const { page, box } = await open(PHONE);
    t.after(() => page.context().close());
    await box.getByText('Ask the operator of this platform for it.').waitFor();
    await look(page, 'phone', 'photo-box-plan');
    await allow([]);
    await page.goto(`${platform.origin}/#/`);
    await page.goto(`${platform.origin}/#/app/photo-box`);
    await box.getByText('You can allow it in Settings → Apps → Photo Box.').waitFor();
    assert.equal(await box.getByRole('button', { name: 'Add photos' }).isVisible(), false);
  });

  test('photos are added, seen large, saved and deleted', async (t) => {
    await allow(GRANTS);
    assert.match(await runCommand(['account', 'plan', 'photographer', 'paid'], place.environment), /paid plan/);
    const { page, box } = await open(DESKTOP);
    t.after(() => page.context().close());
    await box.getByText('No photos yet').waitFor();
    await look(page, 'desktop', 'photo-box-empty');

    const large = await photo(205, 'Panorama.jpg', 20 * MiB);
    const files = [await photo(20, 'Evening é+&.jpg'), large, await photo(320, 'Blossom.jpg')];
    await box
      .getByLabel('Photos to add')
      .setInputFiles([...files, { ...large, name: 'no-photo.jpg', buffer: Buffer.from('x') }]);
    const items = box.getByRole('listitem');
    await until('the photos', async () => (await items.count()) === 3);
    await box.getByText('no-photo.jpg was not added. This browser can’t show it.').waitFor();
    await box.getByLabel('Photo from the camera').setInputFiles(await photo(263, 'Shot.jpg'));
    await drop(box, [await photo(140, 'Meadow.jpg')]);
    await until('the one of the camera and the one that was dropped', async () => (await items.count()) === 5);
    const stored = await keys();
    assert.deepEqual(
      stored.filter((key) => key.startsWith('photos/')).map((key) => key.split('/').at(-1)),
      ['Meadow.jpg', 'Shot.jpg', 'Blossom.jpg', 'Panorama.jpg', 'Evening é+&.jpg'],
      'newest first',
    );
    assert.equal(stored.filter((key) => key.startsWith('thumbnails/')).length, 5);

    // All of it is there when the page comes back, and by the keyboard alone.
    await page.reload();
    await until('the small pictures', () => shown(box, '#photos img', 5));
    await look(page, 'desktop', 'photo-box');
    await box.getByRole('button', { name: 'Blossom.jpg' }).press('Enter');
    const dialog = box.getByRole('dialog', { name: 'Blossom.jpg' });
    await until('the large picture', () => shown(box, '#large', 1));
    await look(page, 'desktop', 'photo-box-large');
    await dialog.press('ArrowRight');
    const panorama = box.getByRole('dialog', { name: 'Panorama.jpg' });
    await until('the next one', () => shown(box, '#large', 1));
    // Longer than a press counts: what was pressed to open the app is no reason to save a file.
    await page.waitForFunction(() => performance.now() > 8_000);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      panorama.getByRole('button', { name: 'Save' }).click(),
    ]);
    assert.equal(download.suggestedFilename(), 'Panorama.jpg');
    assert.ok(large.buffer.equals(await readFile(await download.path())));
    const remove = panorama.getByRole('button', { name: 'Delete' });
    await remove.press('Enter');
    await panorama.getByText('You can’t undo this.').waitFor();
    await remove.press('Enter');
    await box.getByRole('dialog', { name: 'Evening é+&.jpg' }).press('Escape');
    await until('the others', async () => (await items.count()) === 4);
    assert.equal((await keys()).length, 8);
    await page.setViewportSize(PHONE);
    await look(page, 'phone', 'photo-box');
    await box.getByRole('button', { name: 'Meadow.jpg' }).click();
    await until('the large picture', () => shown(box, '#large', 1));
    await look(page, 'phone', 'photo-box-large');
  });
});

/** Whether so many pictures are drawn. */
async function shown(box: FrameLocator, selector: string, count: number): Promise<boolean> {
  return (
    (await box
      .locator(selector)
      .evaluateAll((images) => images.filter((image) => (image as HTMLImageElement).naturalWidth > 0).length)) === count
  );
}

async function drop(
  box: FrameLocator,
  files: readonly { name: string; mimeType: string; buffer: Buffer }[],
): Promise<void> {
  const plain = files.map(({ name, mimeType, buffer }) => ({
    name,
    type: mimeType,
    base64: buffer.toString('base64'),
  }));
  await box.locator('main').evaluate((main, dropped) => {
    const transfer = new DataTransfer();
    for (const { name, type, base64 } of dropped) {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      transfer.items.add(new File([bytes], name, { type }));
    }
    for (const type of ['dragover', 'drop'])
      main.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: transfer }));
  }, plain);
}
