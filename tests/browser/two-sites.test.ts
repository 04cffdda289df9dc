// The platform as operators deploy it: https, shell and apps on two sites, and a browser that gives frames of another site
// no cookies and no storage. Launcher, Store and Notes work all the same.
import { strict as assert } from 'node:assert';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { FRONT_ADDRESS, startTlsFront, type TlsFront } from '../support/tls-front.ts';
import { launchProfile, type Person, personIn } from './browser.ts';
import { Newcomer } from './newcomer.ts';

const SHELL = 'shell.example-a.test';
const APPS = 'apps-b.test';
const NODE = 'node.nodes-c.test';

let place: PlatformPlace;
let platform: PlatformProcess;
let front: TlsFront;
let folder: string;
let person: Person;

before(async () => {
  const local = await platformPlace();
  const origin = `https://${SHELL}:${local.port}`;
  place = {
    ...local,
    origin,
    environment: {
      ...local.environment,
      PLATFORM_OS_ORIGIN: origin,
      PLATFORM_APPS_DOMAIN: APPS,
      PLATFORM_NODE_ORIGIN: `https://${NODE}:${local.nodePort}`,
    },
  };
  front = await startTlsFront([SHELL, NODE, `*.${APPS}`], [local.port, local.nodePort]);
  platform = await startPlatform(place);
  folder = await mkdtemp(path.join(tmpdir(), 'two-sites-'));
  await blockThirdPartyStorage(path.join(folder, 'Default'));
  const context = await launchProfile(folder, {}, [
    `--host-resolver-rules=MAP *.test ${FRONT_ADDRESS}, MAP * ~NOTFOUND, EXCLUDE ${FRONT_ADDRESS}`,
    `--ignore-certificate-errors-spki-list=${front.keyHash}`,
  ]);
  person = await personIn(context);
});
after(async () => {
  await person?.context.close();
  await platform?.stop();
  await front?.close();
  await place?.remove();
  await rm(folder, { recursive: true, force: true });
});

/** As in the settings of the browser; a profile is asked for it once, at its start. */
async function blockThirdPartyStorage(profile: string): Promise<void> {
  await mkdir(profile, { recursive: true });
  const preferences = { profile: { block_third_party_cookies: true, cookie_controls_mode: 1 } };
  await writeFile(path.join(profile, 'Preferences'), JSON.stringify(preferences));
}

test('a newcomer registers, installs Notes from the Store, and keeps a note', async (t) => {
  const someone = new Newcomer(person, {
    origin: place.origin,
    device: 'desktop',
    account: 'ada',
    pictures: 'two-sites',
  });
  // A step rests on the one before: after a failure the rest would only wait in vain.
  const step = async (promise: string, work: () => Promise<void>) => {
    let done = false;
    await t.test(promise, async () => {
      await work();
      done = true;
    });
    assert.ok(done, `the story ended where the newcomer ${promise}`);
  };
  await step('registers, and is welcomed by Launcher', () => someone.registers());
  await t.test('and the browser really gives frames of another site no storage', async () => {
    const frame = person.page.frames().find((one) => one.url().includes(`.${APPS}`));
    assert.ok(frame);
    const outcome = await frame.evaluate(() => {
      try {
        return typeof sessionStorage;
      } catch (error) {
        return (error as DOMException).name;
      }
    });
    assert.equal(outcome, 'SecurityError');
  });
  await step('finds Notes in the Store', () => someone.findsNotesInTheStore());
  await step('installs it', () => someone.installsNotes());
  await step('keeps a note', () => someone.addsANote('Buy oat milk'));
  await step('finds it again from Home', () => someone.opensTheNoteFromTheNotification('Buy oat milk'));
  await t.test('the session cookie is for this host alone, over TLS alone', async () => {
    const cookies = await person.context.cookies(place.origin);
    const session = cookies.find(({ httpOnly }) => httpOnly);
    assert.ok(session);
    assert.match(session.name, /^__Host-/);
    assert.deepEqual([session.secure, session.domain, session.sameSite], [true, SHELL, 'Lax']);
  });
  await t.test('the console says what the browser blocks, and nothing else', () => {
    const blocked = /^This browser blocks localStorage, sessionStorage, IndexedDB and cookies in this app\./;
    assert.ok(someone.complaints().some((text) => blocked.test(text)));
    assert.deepEqual(
      someone.complaints().filter((text) => !blocked.test(text)),
      [],
    );
  });
});
