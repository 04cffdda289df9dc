// How a page looks: pictures of it by day, what axe finds fault with, and what is beyond the edge or its place in a menu; in a
// thorough run also by night.
import { strict as assert } from 'node:assert';
import { mkdir } from 'node:fs/promises';
import * as path from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { thorough } from '../support/thorough.ts';
import { violationsIn } from './axe.ts';
import { showScheme } from './browser.ts';

/** Where pictures go: `SCREENSHOT_DIR`, by default `screenshots/`. */
const SCREENSHOTS = path.resolve(process.env.SCREENSHOT_DIR ?? 'screenshots');

const SCHEMES = thorough<readonly ('light' | 'dark')[]>(['light'], ['light', 'dark']);

/** What differs by night: colours. The other rules would find again what they found by day. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/**
 * Takes the pictures `<device>/<name>.png` and, by night, `<device>/<name>-dark.png`.
 *
 * @param parts of a page that is longer than the screen: a picture with each of them at the top, numbered from 1
 * @throws AssertionError for each element that axe finds fault with, for a document that is wider than its frame, and for an
 * entry of a menu whose words reach into the next one
 */
export async function look(page: Page, device: string, name: string, parts: readonly Locator[] = []): Promise<void> {
  const folder = path.join(SCREENSHOTS, device);
  await mkdir(folder, { recursive: true });
  for (const scheme of SCHEMES) {
    const take = (picture: string) =>
      page.screenshot({ path: path.join(folder, `${picture}${scheme === 'dark' ? '-dark' : ''}.png`) });
    await showScheme(page, scheme);
    if (parts.length === 0) await take(name);
    for (const [index, part] of parts.entries()) {
      await bringToTop(part);
      await take(`${name}-${index + 1}`);
    }
    assert.deepEqual(await faults(page, scheme), [], `${name} on a ${device}, ${scheme}`);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  assert.deepEqual(await tooWide(page), [], `${name} on a ${device}`);
  assert.deepEqual(await crowded(page), [], `${name} on a ${device}`);
}

/** In Settings the page alone scrolls, and only down: what is beyond takes the navigation away with it. */
export async function settingsFit(page: Page): Promise<void> {
  const beyond = await page.evaluate(() => {
    const over = (selector: string) => {
      const { scrollWidth, clientWidth, scrollHeight, clientHeight } =
        document.querySelector(selector) ?? document.body;
      return [scrollWidth - clientWidth, scrollHeight - clientHeight];
    };
    return [...over('.settings'), over('.settings-page')[0]];
  });
  assert.deepEqual(beyond, [0, 0, 0]);
}

function bringToTop(part: Locator): Promise<unknown> {
  return part.evaluate((element) => {
    element.scrollIntoView();
    return new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  });
}

async function faults(page: Page, scheme: 'light' | 'dark'): Promise<string[]> {
  const violations = await violationsIn(page, {
    resultTypes: ['violations'],
    // For rules about sound, which no page has.
    preload: false,
    ...(scheme === 'dark' && { runOnly: { type: 'rule', values: COLOUR_RULES } }),
  });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary = '' }) => `${id} at ${target.join(' in ')}: ${failureSummary}`),
  );
}

/** The entries of menus that are narrower than their words. */
async function crowded(page: Page): Promise<string[]> {
  const found = page.frames().map((frame) =>
    frame.evaluate(() => {
      const entries = [...document.querySelectorAll<HTMLElement>('nav :is(a, button)')];
      // Where words are cut short on purpose, an ellipsis says so.
      const narrow = entries.filter((entry) => entry.clientWidth > 0 && entry.scrollWidth > entry.clientWidth);
      return narrow
        .filter((entry) => getComputedStyle(entry).overflowX === 'visible')
        .map((entry) => `the menu entry ${entry.innerText} is too narrow`);
    }),
  );
  return (await Promise.all(found)).flat();
}

/** One line for each frame whose document goes beyond its edge. */
async function tooWide(page: Page): Promise<string[]> {
  const widths = page.frames().map(async (frame) => {
    const beyond = await frame.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    // A frame that is not shown has no width.
    const shown = frame === page.mainFrame() || (await (await frame.frameElement()).isVisible());
    return shown && beyond > 0 ? [`${beyond} pixels of ${frame.url()} are beyond the edge`] : [];
  });
  return (await Promise.all(widths)).flat();
}
