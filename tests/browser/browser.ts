// A person's browser: real Chromium with a virtual authenticator that holds passkeys, one per browser context.
import assert from 'node:assert/strict';
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';
import { until } from '../support/wait.ts';

export const PHONE = { width: 390, height: 844 } as const;
export const DESKTOP = { width: 1280, height: 800 } as const;
export const BOTH_DEVICES = [
  ['desktop', DESKTOP],
  ['phone', PHONE],
] as const;

/** Of this run: both, or in an ordinary run of everything the one whose turn it is, which it names in PLATFORM_TEST_DEVICE. */
export const DEVICES = BOTH_DEVICES.filter(([device]) => (process.env.PLATFORM_TEST_DEVICE ?? device) === device);
/** For what is done once, before or after the rest. */
export const [FIRST_DEVICE, LAST_DEVICE] = [DEVICES.at(0)?.[0], DEVICES.at(-1)?.[0]];

const LAUNCH = {
  executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
  // Chromium's own sandbox refuses to run as root, which test machines often are.
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
};

/** What Chromium is here, to run it through another program. */
export const CHROMIUM = LAUNCH.executablePath;

/**
 * @param args of Chromium, besides those that every test needs
 * @param executablePath of a program that runs Chromium with its own arguments
 */
export function launchBrowser(args: readonly string[] = [], executablePath = CHROMIUM): Promise<Browser> {
  return chromium.launch({ ...LAUNCH, executablePath, args: [...LAUNCH.args, ...args] });
}

/**
 * A browser with a profile that lasts, in a folder of its own: Chromium takes presses on notifications, and connects
 * ahead of requests, for no other.
 * @param environment on top of this process's
 * @param args of Chromium, besides those that every test needs
 */
export function launchProfile(
  folder: string,
  environment: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): Promise<BrowserContext> {
  const env = { ...process.env, ...environment };
  const options = { ...LAUNCH, args: [...LAUNCH.args, ...args], env };
  return chromium.launchPersistentContext(folder, { ...options, viewport: DESKTOP, reducedMotion: 'reduce' });
}

export interface Person {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Everything the pages of this person complained about: errors, refused policies, failed requests of their own. */
  readonly complaints: readonly string[];
  /** A security key that answers from here on, and the others no more. */
  plugInKey(): Promise<void>;
  /** Whether authenticators verify the person; otherwise every ceremony ends like a cancelled one. */
  verifies(isUserVerified: boolean): Promise<void>;
}

/** A browser profile of its own, with a platform authenticator that confirms every ceremony (CDP `WebAuthn`). */
export async function newPerson(browser: Browser, viewport: { width: number; height: number }): Promise<Person> {
  return personIn(await browser.newContext({ viewport, reducedMotion: 'reduce' }));
}

/** The same in a profile that is there already. */
export async function personIn(context: BrowserContext): Promise<Person> {
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      complaints.push(`${message.text()} ${message.location().url}`.trim());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  const cdp = await context.newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const authenticators: string[] = [];
  async function addAuthenticator(transport: 'internal' | 'usb'): Promise<void> {
    for (const authenticatorId of authenticators)
      await cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled: false });
    const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        ctap2Version: 'ctap2_1',
        transport,
        hasResidentKey: true,
        hasUserVerification: true,
        hasPrf: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    authenticators.push(authenticatorId);
  }
  await addAuthenticator('internal');
  return {
    context,
    page,
    complaints,
    plugInKey: () => addAuthenticator('usb'),
    async verifies(isUserVerified) {
      for (const authenticatorId of authenticators)
        await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
    },
  };
}

/**
 * Presses a button whose press ends its own frame. Chromium may then lose the answer that the press was delivered, and
 * playwright waits for that until its time limit; so the effect is what counts.
 */
export async function pressAway(button: Locator, effect: Locator): Promise<void> {
  await Promise.race([effect.waitFor(), button.click().then(() => effect.waitFor())]);
}

/** There while no prompt is open. */
export const noDialog = (page: Page): Locator => page.locator('body:not(:has(dialog[open]))');

/**
 * Presses a button of a prompt until that has its effect: presses in the first half second do not count. The effect must not
 * be there before the press, or a press that did not count would pass for one that did.
 */
export async function pressInPrompt(button: Locator, effect: Locator): Promise<void> {
  await button.waitFor();
  assert.equal(await effect.isVisible(), false, 'the effect of the press is there before it');
  const pressed = async () => {
    await button.click({ timeout: 5_000 }).catch(() => undefined);
    return effect.waitFor({ timeout: 2_000 }).then(
      () => true,
      () => false,
    );
  };
  await until('the press to count', pressed, 60_000);
}

/** Turns a choice of a prompt on, which counts as late as a press of its buttons. */
export async function checkInPrompt(box: Locator): Promise<void> {
  const isOn = async () => {
    await box.check({ timeout: 5_000 }).catch(() => undefined);
    return box.isChecked();
  };
  await until('the choice to be on', isOn, 60_000);
}

/** Turns a choice of a prompt off, which counts as late as a press of its buttons. */
export async function uncheckInPrompt(box: Locator): Promise<void> {
  const isOff = async () => {
    await box.uncheck({ timeout: 5_000 }).catch(() => undefined);
    return !(await box.isChecked());
  };
  await until('the choice to be off', isOff, 60_000);
}

/** The tile of an app on the home screen, whatever is the matter with it. */
export function tileOf(page: Page, name: string): Locator {
  const escaped = name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return page
    .frameLocator('iframe[title="Launcher"]')
    .getByRole('button', { name: new RegExp(`^${escaped}(?: ?,|$)`) });
}

/** Day or night, drawn in every frame: the browser follows a little later, and text of the one on the other is no picture. */
export async function showScheme(page: Page, scheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme: scheme });
  const follows = (wanted: string) => matchMedia(`(prefers-color-scheme: ${wanted})`).matches;
  await Promise.all(page.frames().map((frame) => frame.waitForFunction(follows, scheme)));
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
}
