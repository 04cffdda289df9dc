// The whole story of a newcomer, in a real browser against the platform as a user starts it: register, install an app
// from the Store, use it, hear of it, find it, narrow it, look at its log, sign out and in. Nothing is faked but the
// finger on the authenticator. Screenshots of every step go to SCREENSHOT_DIR, by default screenshots/.
import { strict as assert } from 'node:assert';
import { readdir, readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { DEVICES, launchBrowser, newPerson } from '../browser/browser.ts';
import { Newcomer } from '../browser/newcomer.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { STORY_MS } from '../support/wait.ts';

let place: PlatformPlace;
let platform: PlatformProcess;
let browser: Browser;

before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await place?.remove();
});

for (const [device, viewport] of DEVICES) {
  test(`a newcomer does the whole story on a ${device}`, { timeout: STORY_MS }, async (t) => {
    const person = await newPerson(browser, viewport);
    t.after(() => person.context.close());
    const someone = new Newcomer(person, { origin: platform.origin, device, account: `${device}-user` });

    // A step rests on the one before: after a failure the rest would only wait in vain.
    const step = async (promise: string, work: () => Promise<void>) => {
      let done = false;
      await t.test(promise, async () => {
        await work();
        done = true;
      });
      assert.ok(done, `the story ended where the newcomer ${promise}`);
    };
    await step('registers with a passkey and lands on a home that says where to start', () => someone.registers());
    await step('finds Notes in the Store and reads about it', () => someone.findsNotesInTheStore());
    await step('sees in plain words what Notes asks for, and installs it', () => someone.installsNotes());
    await step('adds a note, which wakes the backend in its sandbox', () => someone.addsANote('Buy oat milk'));
    await step('sees the notification in the shell', () => someone.hearsOfTheNote('Buy oat milk'));
    await step('finds the note with the search, and opens it', () => someone.findsTheNote('oat', 'Buy oat milk'));
    await step('opens it from the notification too', () => someone.opensTheNoteFromTheNotification('Buy oat milk'));
    await step('reads the inbox in the Notifications app', () => someone.readsTheInbox('Buy oat milk'));
    await step('takes back a permission in Settings, and the app is refused at once', () => someone.narrowsAGrant());
    await step('sees that the backend runs, and reads its log', () => someone.readsTheLog());
    await step('sees where the account is signed in', () => someone.looksAtSessions());
    await step('removes the app, installs it again, and finds the data', () =>
      someone.removesAndInstallsAgain('Buy oat milk'),
    );
    await step('looks at their wallet', () => someone.looksAtTheirWallet());
    await step('reads what their agent lacks', () => someone.readsWhatTheirAgentLacks());
    await step('signs out, comes back with the passkey, and the note is still there', () =>
      someone.signsOutAndIn('Buy oat milk'),
    );
    await t.test('and the browser had nothing to complain about', () => {
      const complaints = someone.complaints();
      assert.equal(complaints.length, 0, [...complaints, 'The platform:', ...warnings()].join('\n'));
    });
  });
}

test('nothing of the platform runs any more when it has stopped', async () => {
  assert.equal(await platform.stop(), 0);
  assert.deepEqual(await commandLinesWith(place.dataDirectory), []);
});

/** What the platform logged as a warning or worse. */
function warnings(): string[] {
  return platform
    .output()
    .split('\n')
    .filter((line) => /"level":[456]0/.test(line));
}

/** Command lines of this machine's processes that name the folder: PostgreSQL's and the sandboxes' do. */
async function commandLinesWith(folder: string): Promise<string[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  // A process may end while it is looked at.
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')));
  return lines.map((line) => line.replaceAll('\0', ' ')).filter((line) => line.includes(folder));
}
