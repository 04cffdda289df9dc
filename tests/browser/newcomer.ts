// What a newcomer does at the screen, step by step, in the words on it. Each step ends with pictures and an axe check.
import { strict as assert } from 'node:assert';
import type { FrameLocator, Locator, Page } from 'playwright-core';
import { type Person, pressAway, tileOf } from './browser.ts';
import { look } from './look.ts';

interface Story {
  readonly origin: string;
  readonly device: 'desktop' | 'phone';
  readonly account: string;
  /** Where its pictures go, by default a folder named after the device. */
  readonly pictures?: string;
}

export class Newcomer {
  readonly #person: Person;
  readonly #page: Page;
  readonly #story: Story;
  #steps = 0;

  constructor(person: Person, story: Story) {
    this.#person = person;
    this.#page = person.page;
    this.#story = story;
  }

  /** The frame of an app, by its name on the screen. */
  #app(name: string): FrameLocator {
    return this.#page.frameLocator(`iframe[title="${name}"]`);
  }

  async registers(): Promise<void> {
    await this.#page.goto(this.#story.origin);
    await this.#page.getByLabel('Account name').fill(this.#story.account);
    await this.#look('welcome');
    await this.#page.getByRole('button', { name: /^Create account/ }).click();
    const home = this.#app('Launcher');
    await home.getByRole('heading', { name: `Welcome, ${this.#story.account}` }).waitFor();
    await home.getByRole('heading', { name: 'Start here' }).waitFor();
    await this.#look('home');
  }

  async findsNotesInTheStore(): Promise<void> {
    const store = this.#app('Store');
    await pressAway(
      this.#app('Launcher').getByRole('button', { name: 'Open the Store' }),
      store.getByRole('button', { name: 'Install Notes' }),
    );
    await this.#look('store');
    await store.getByRole('button', { name: 'Notes', exact: true }).click();
    await store.getByText('on the server, in its own sandbox').waitFor();
    await this.#look('store-notes');
  }

  async installsNotes(): Promise<void> {
    await this.#app('Store').getByRole('button', { name: 'Install Notes' }).click();
    const review = this.#page.getByRole('dialog', { name: 'Install Notes?' });
    await review.getByLabel('Send you notifications').waitFor();
    await review.getByLabel('Add its items to your search').waitFor();
    const { protocol } = new URL(this.#story.origin);
    assert.match(
      await review.innerText(),
      new RegExp(
        `Store, a part of the platform, wants to install an app:[\\s\\S]*Address of Store here: ${protocol}//store--`,
      ),
    );
    await this.#look('install-review');
    const done = this.#page.getByRole('heading', { name: 'Notes is installed' });
    await this.#press(review.getByRole('button', { name: 'Install', exact: true }), done);
    await this.#look('installed');
    const notes = this.#app('Notes').getByRole('heading', { name: 'Notes' });
    await this.#press(this.#page.getByRole('button', { name: 'Open Notes' }), notes);
  }

  async addsANote(text: string): Promise<void> {
    const notes = this.#app('Notes');
    await notes.getByLabel('New note').fill(text);
    await notes.getByRole('button', { name: 'Save note' }).click();
    await notes.getByRole('status').getByText('Saved.', { exact: true }).waitFor();
    await notes.getByRole('listitem').filter({ hasText: text }).waitFor();
  }

  async hearsOfTheNote(text: string): Promise<void> {
    const toast = this.#page.getByRole('region', { name: 'Messages' });
    await toast.getByText('Note saved').waitFor();
    await toast.getByText(text).waitFor();
    await this.#bell('Notifications, 1 unread').waitFor();
    await this.#look('note-saved');
  }

  async findsTheNote(query: string, text: string): Promise<void> {
    const field = this.#page.getByRole('combobox', { name: 'Search your apps' });
    await this.#page.keyboard.press('Escape');
    if (this.#story.device === 'desktop') await field.click();
    else await this.#page.getByRole('button', { name: 'Search', exact: true }).click();
    await field.fill(query);
    await this.#page.getByRole('option', { name: text }).waitFor();
    await this.#look('search');
    await this.#page.keyboard.press('Enter');
    await this.#app('Notes').locator('li.wanted', { hasText: text }).waitFor();
    await this.#look('found-note');
  }

  async opensTheNoteFromTheNotification(text: string): Promise<void> {
    await this.#page.getByRole('button', { name: 'Home' }).click();
    await tileOf(this.#page, 'Notes').waitFor();
    await this.#look('home-with-notes');
    await this.#bell('Notifications, 1 unread').click();
    const panel = this.#page.getByRole('region', { name: 'Notifications' });
    await panel.getByText(text).waitFor();
    await this.#look('notifications-panel');
    await panel.getByRole('button', { name: 'Open note' }).click();
    await this.#app('Notes').locator('li.wanted', { hasText: text }).waitFor();
    await this.#bell('Notifications').waitFor();
  }

  async readsTheInbox(text: string): Promise<void> {
    await this.#open('Notifications');
    const inbox = this.#app('Notifications');
    await inbox.getByRole('article', { name: 'Note saved' }).getByText(text).waitFor();
    await this.#look('inbox');
    await inbox.getByRole('button', { name: 'Unread' }).click();
    await inbox.getByText('No such notifications.').waitFor();
  }

  async narrowsAGrant(): Promise<void> {
    await this.#openSettings();
    const row = this.#page.getByRole('link', { name: /^Notes/ });
    await row.getByText('Running', { exact: true }).waitFor();
    await this.#look('settings');
    await row.click();
    const permission = this.#page.getByLabel('Send you notifications');
    await permission.uncheck();
    await this.#page.getByText('Saved. Changes apply').waitFor();
    assert.equal(await permission.isChecked(), false);
    await this.#look('narrowed');

    await this.#open('Notes');
    const notes = this.#app('Notes');
    await notes.getByLabel('New note').fill('A silent note');
    await notes.getByRole('button', { name: 'Save note' }).click();
    await notes.getByRole('status').getByText('(grant_missing)').waitFor();
    await notes.getByRole('listitem').filter({ hasText: 'A silent note' }).waitFor();
    await this.#look('refused');
    await this.#bell('Notifications').waitFor();
  }

  async readsTheLog(): Promise<void> {
    await this.#openSettings();
    await this.#page.getByRole('link', { name: /^Notes/ }).click();
    await this.#page.getByRole('button', { name: 'See its log' }).click();
    const listens = this.#page.getByRole('log', { name: 'Log of Notes' }).getByText('Notes listens on port 8080.');
    await listens.first().waitFor();
    await this.#page.getByText('Live', { exact: true }).waitFor();
    await this.#page.getByText(/of one processor$/).waitFor();
    await this.#page.getByText(/^Incoming requests: \d+,/).waitFor();
    const before = await listens.count();
    await this.#look('log');
    // What happens from here on arrives by itself.
    await this.#page.getByRole('button', { name: 'Stop', exact: true }).click();
    await this.#page.getByText('Stopped by you', { exact: true }).waitFor();
    await this.#page.getByRole('button', { name: 'Start', exact: true }).click();
    await listens.nth(before).waitFor();
    await this.#look('log-live');
  }

  async looksAtSessions(): Promise<void> {
    await this.#openSettings();
    await this.#page.getByRole('link', { name: 'Sessions' }).click();
    await this.#page.getByRole('heading', { name: 'Sessions' }).waitFor();
    await this.#page.getByText('This browser').waitFor();
    await this.#look('sessions');
  }

  async removesAndInstallsAgain(text: string): Promise<void> {
    await this.#openSettings();
    await this.#page.getByRole('link', { name: /^Notes/ }).click();
    await this.#page.getByRole('button', { name: 'Remove Notes' }).click();
    const question = this.#page.getByRole('dialog', { name: 'Remove Notes?' });
    await question.getByText('Its data is kept').waitFor();
    await this.#look('remove');
    await this.#press(question.getByRole('button', { name: 'Remove Notes' }), this.#page.getByText('Notes is removed'));
    await this.#page.getByRole('link', { name: /^Wallet/ }).waitFor();
    await this.#page.getByRole('link', { name: /^Notes/ }).waitFor({ state: 'detached' });

    await this.#open('Store');
    await this.#app('Store').getByRole('button', { name: 'All apps' }).click();
    await this.installsNotes();
    await this.#app('Notes').getByRole('listitem').filter({ hasText: text }).waitFor();
  }

  async looksAtTheirWallet(): Promise<void> {
    await this.#open('Wallet');
    await this.#app('Wallet').getByRole('heading', { level: 1 }).waitFor();
    await this.#look('wallet');
  }

  async readsWhatTheirAgentLacks(): Promise<void> {
    await this.#open('Personal Agent');
    const agent = this.#app('Personal Agent');
    await agent.getByText('Nothing was said yet.').waitFor();
    await agent.getByRole('button', { name: 'New', exact: true }).click();
    await agent.getByRole('heading', { name: 'Your agent needs an AI provider' }).waitFor();
    await this.#look('personal-agent');
  }

  async signsOutAndIn(text: string): Promise<void> {
    await this.#page.getByRole('button', { name: `Account ${this.#story.account}` }).click();
    await this.#look('account-menu');
    await this.#page.getByRole('button', { name: 'Sign out' }).click();
    await this.#page.getByRole('button', { name: /^Sign in/ }).waitFor();
    await this.#look('signed-out');
    await this.#page.getByRole('button', { name: /^Sign in/ }).click();
    await this.#page.getByRole('button', { name: 'Home' }).waitFor();
    await this.#open('Notes');
    await this.#app('Notes').getByRole('listitem').filter({ hasText: text }).waitFor();
    await this.#look('back-again');
  }

  /** What the browser's console held besides what is meant to be there. */
  complaints(): readonly string[] {
    const meant = [
      // What is in the policy of apps for browsers that know it.
      /Unrecognized Content-Security-Policy directive 'webrtc'/,
      // The refusal that tells a visitor from somebody who is signed in.
      /status of 401 \(Unauthorized\)/,
      // What a page still asked about the app that was just removed.
      /status of 404 \(Not Found\) \S*\/v1\/(?:apps|catalog)\/notes/,
    ];
    return this.#person.complaints.filter((text) => !meant.some((pattern) => pattern.test(text)));
  }

  /** The bell of the shell, while it says this; the tab of the Notifications app has a like name. */
  #bell(name: string): Locator {
    const bell = this.#page.locator('button[popovertarget="notifications"]');
    return bell.and(this.#page.getByRole('button', { name, exact: true }));
  }

  /** From the home screen, as a person does. */
  async #open(name: string): Promise<void> {
    await this.#page.getByRole('button', { name: 'Home' }).click();
    await pressAway(tileOf(this.#page, name), this.#page.locator(`iframe[title="${name}"]`));
  }

  /** From the home screen too: the tile leads to the pages of the shell. */
  async #openSettings(): Promise<void> {
    await this.#page.getByRole('button', { name: 'Home' }).click();
    await pressAway(tileOf(this.#page, 'Settings'), this.#page.getByRole('heading', { name: 'Apps', exact: true }));
  }

  /** Trusted prompts ignore presses in their first half second, so a press may need to be repeated. */
  async #press(button: Locator, effect: Locator): Promise<void> {
    const deadline = AbortSignal.timeout(20_000);
    while (!deadline.aborted) {
      // Gone already when the press before did it, and only its effect takes its time.
      await button.click({ timeout: 1_000 }).catch(() => {});
      const seen = effect.waitFor({ timeout: 2_000 }).then(
        () => true,
        () => false,
      );
      if (await seen) return;
    }
    await effect.waitFor();
  }

  #look(name: string): Promise<void> {
    this.#steps += 1;
    return look(
      this.#page,
      this.#story.pictures ?? this.#story.device,
      `${String(this.#steps).padStart(2, '0')}-${name}`,
    );
  }
}
