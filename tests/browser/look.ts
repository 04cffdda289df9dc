// How a page looks: pictures of it, and what axe finds fault with.
import { strict as assert } from 'node:assert';
import { mkdir } from 'node:fs/promises';
import * as path from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { showScheme } from './browser.ts';

/** Where pictures go: `SCREENSHOT_DIR`, by default `screenshots/`. */
const SCREENSHOTS = path.resolve(process.env.SCREENSHOT_DIR ?? 'screenshots');

/** What differs by night: colours. The other rules would find again what they found by day. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/** A picture by day and by night, and nothing that axe finds fault with. */
export async function look(page: Page, device: string, name: string): Promise<void> {
  const folder = path.join(SCREENSHOTS, device);
  await mkdir(folder, { recursive: true });
  for (const scheme of ['light', 'dark'] as const) {
    await showScheme(page, scheme);
    await page.screenshot({ path: path.join(folder, `${name}${scheme === 'dark' ? '-dark' : ''}.png`) });
    const axe = new AxeBuilder({ page });
    if (scheme === 'dark') axe.withRules(COLOUR_RULES);
    const { violations } = await axe.analyze();
    assert.deepEqual(
      violations.map(({ id, nodes }) => `${id} at ${nodes.map(({ target }) => target.join(' ')).join(', ')}`),
      [],
      `${name} on a ${device}, ${scheme}`,
    );
  }
  await page.emulateMedia({ colorScheme: 'light' });
}
