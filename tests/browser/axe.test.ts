// That axe is asked about frames, and frames in those: a question that reaches none of them finds nothing wrong.
import { strict as assert } from 'node:assert';
import { after, before, test } from 'node:test';
import type { RunOptions } from 'axe-core';
import type { Browser } from 'playwright-core';
import { violationsIn } from './axe.ts';
import { DESKTOP, launchBrowser, newPerson } from './browser.ts';

let browser: Browser;

before(async () => {
  browser = await launchBrowser();
});
after(() => browser?.close());

const PICTURE = '<img src="data:,">';
const RULES: RunOptions = { runOnly: { type: 'rule', values: ['image-alt'] } };

test('a fault is found in the page, in a frame of it, in a frame of that, and in none that is hidden', async (t) => {
  const { context, page } = await newPerson(browser, DESKTOP);
  t.after(() => context.close());
  const frame = (content: string, style = '') =>
    `<iframe style="${style}" srcdoc="${content.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"></iframe>`;
  await page.setContent(PICTURE + frame(PICTURE + frame(PICTURE)) + frame(PICTURE, 'display: none'));
  const [violation, ...others] = await violationsIn(page, RULES);
  assert.deepEqual(others, []);
  assert.deepEqual(
    violation?.nodes.map(({ target }) => target.length),
    [1, 2, 3],
  );
  // Asked again, as after a change of colours.
  await page
    .frames()[1]
    ?.locator('img')
    .evaluate((image) => image.setAttribute('alt', 'A picture'));
  const again = await violationsIn(page, RULES);
  assert.deepEqual(
    again[0]?.nodes.map(({ target }) => target.length),
    [1, 3],
  );
});
