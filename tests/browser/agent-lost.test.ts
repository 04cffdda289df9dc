// Connections break, pages are loaded anew and hidden: what a person writes to their agent is neither lost nor said twice, it goes to the
// agent that they chose, no stream outlives its view, and a card that knows nothing says so. The model is scripted.
import { strict as assert } from 'node:assert';
import { after, before, test } from 'node:test';
import type { Page, Route } from 'playwright-core';
import { openBackend } from '../support/backend.ts';
import { rawRequest } from '../support/raw-http.ts';
import { STORY_MS, until } from '../support/wait.ts';
import { type AgentDesk, callingOnce, heard, type Sitting, sitDown, startAgentDesk } from './agent-desk.ts';

const DESKTOP = { width: 1280, height: 800 };
const SAY = /\/v1\/agent\/sessions\/[^/]+\/messages$/;
const BEGIN = /\/v1\/agent\/sessions$/;

let desk: AgentDesk;

before(async () => {
  desk = await startAgentDesk({ providers: 1 });
  desk.provider.play((asked) => ({ text: `Heard: ${heard(asked).said}` }));
});
after(() => desk?.close());

/** The agent does what it is asked, and its answer is lost, once. */
async function losing(page: Page, path: RegExp): Promise<void> {
  let lost = false;
  await page.context().route(path, async (route: Route) => {
    const request = route.request();
    if (lost || request.method() !== 'POST') return route.continue();
    lost = true;
    const { pathname, host } = new URL(request.url());
    const headers = { ...request.headers(), host, 'content-type': 'application/json' };
    const body = request.postData() ?? '';
    const { status } = await rawRequest({
      port: desk.platform.nodePort,
      method: 'POST',
      path: pathname,
      headers,
      body,
    });
    assert.ok(status < 300, String(status));
    return route.abort('connectionreset');
  });
}

const field = ({ app }: Sitting) => app.getByLabel('Message to your agent');
const send = ({ app }: Sitting) => app.getByRole('button', { name: 'Send', exact: true });
/** Why it was not taken. */
const said = ({ app }: Sitting) => app.getByRole('alert').filter({ hasText: /./ });
const log = ({ app }: Sitting) => app.getByRole('log');

async function conversations({ account }: Sitting): Promise<readonly { id: string; profile: string }[]> {
  const ask = await openBackend(desk.platform, account, 'agent');
  return ((await ask('/v1/agent/sessions')).json as { items: { id: string; profile: string }[] }).items;
}

async function say(sitting: Sitting, text: string): Promise<void> {
  await field(sitting).fill(text);
  await send(sitting).click();
}

for (const [what, path] of [
  ['the beginning of a conversation', BEGIN],
  ['its first message', SAY],
] as const)
  test(`${what} whose answer is lost is sent again, and is there once`, { timeout: STORY_MS }, async (t) => {
    const sitting = await sitDown(desk, path === BEGIN ? 'lost-beginning' : 'lost-message', DESKTOP);
    t.after(() => sitting.context.close());
    await losing(sitting.page, path);
    await say(sitting, 'Water the fern.');
    await said(sitting).waitFor();
    assert.equal(await field(sitting).inputValue(), 'Water the fern.');
    await send(sitting).click();
    await log(sitting).getByText('Heard: Water the fern.').waitFor();
    assert.equal(await log(sitting).getByText('Water the fern.', { exact: true }).count(), 1);
    assert.equal(await field(sitting).inputValue(), '');
    assert.equal((await conversations(sitting)).length, 1);
  });

test('what was taken while the page was loaded anew is there once, and the field is empty', {
  timeout: STORY_MS,
}, async (t) => {
  const sitting = await sitDown(desk, 'loaded-anew', DESKTOP);
  t.after(() => sitting.context.close());
  await losing(sitting.page, SAY);
  await say(sitting, 'Count to two.');
  await said(sitting).waitFor();
  await sitting.page.reload();
  await log(sitting).getByText('Heard: Count to two.').waitFor();
  await until('the field is empty', async () => (await field(sitting).inputValue()) === '');
  await sitting.context.unrouteAll();
  await losing(sitting.page, SAY);
  await say(sitting, 'Count to three.');
  await said(sitting).waitFor();
  await sitting.page.reload();
  await log(sitting).getByText('Heard: Count to three.').waitFor();
  await until('the field is empty', async () => (await field(sitting).inputValue()) === '');
  assert.equal(await log(sitting).getByText('Count to three.', { exact: true }).count(), 1);
  assert.equal((await conversations(sitting)).length, 1);
});

test('what did not arrive is still in the field after the page is loaded anew', { timeout: STORY_MS }, async (t) => {
  const sitting = await sitDown(desk, 'not-arrived', DESKTOP);
  t.after(() => sitting.context.close());
  await sitting.context.route(SAY, (route) => route.abort('connectionreset'), { times: 1 });
  await say(sitting, 'Not lost.');
  await said(sitting).waitFor();
  await sitting.page.reload();
  await until('the draft is there', async () => (await field(sitting).inputValue()) === 'Not lost.');
  await send(sitting).click();
  await log(sitting).getByText('Heard: Not lost.').waitFor();
  assert.equal((await conversations(sitting)).length, 1);
});

test('a message waits until it is known that the chosen agent is there', { timeout: STORY_MS }, async (t) => {
  const sitting = await sitDown(desk, 'chooser', DESKTOP);
  t.after(() => sitting.context.close());
  const { app, page, context } = sitting;
  await app.getByRole('button', { name: 'Agents', exact: true }).click();
  await app.getByRole('button', { name: 'New agent' }).click();
  await app.getByLabel('Name', { exact: true }).fill('Kitchen help');
  await app.getByRole('button', { name: 'Save' }).click();
  await app.getByRole('button', { name: 'New', exact: true }).click();
  await app.getByLabel('Agent', { exact: true }).selectOption({ label: 'Kitchen help' });
  const id = await app.getByLabel('Agent', { exact: true }).inputValue();
  assert.match(id, /^pro-/);
  const known = Promise.withResolvers<void>();
  await context.route(/\/v1\/agent\/profiles$/, (route) => known.promise.then(() => route.continue()));
  await page.reload();
  await app.getByText('Looking for the agent that you chose…').waitFor();
  await field(sitting).fill('What do we eat?');
  assert.ok(await send(sitting).isDisabled());
  known.resolve();
  await send(sitting).click();
  await log(sitting).getByText('Heard: What do we eat?').waitFor();
  assert.deepEqual(
    (await conversations(sitting)).map(({ profile }) => profile),
    [id],
  );
});

test('a stream ends with its view and while nobody sees it, and goes on from where it was', {
  timeout: STORY_MS,
}, async (t) => {
  const sitting = await sitDown(desk, 'streamer', DESKTOP);
  t.after(() => sitting.context.close());
  const { app, page } = sitting;
  const open = new Set<unknown>();
  page.on(
    'request',
    (request) => /\/sessions\/[^/]+\/events$/.test(new URL(request.url()).pathname) && open.add(request),
  );
  page.on('requestfinished', (request) => open.delete(request));
  page.on('requestfailed', (request) => open.delete(request));
  const held = Promise.withResolvers<void>();
  t.after(() => held.resolve());
  desk.provider.play(() => ({ text: 'One and two and three.', hold: held.promise }));
  await say(sitting, 'Count.');
  await log(sitting)
    .getByText(/^One and/)
    .waitFor();
  assert.equal(open.size, 1);
  const frame = page.frames().find((one) => one.url().includes('//agent--')) ?? assert.fail();
  const become = (state: string) =>
    frame.evaluate((now) => {
      Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => now });
      document.dispatchEvent(new Event('visibilitychange'));
    }, state);
  await become('hidden');
  await until('the stream ends', () => open.size === 0);
  held.resolve();
  await become('visible');
  await log(sitting).getByText('One and two and three.').waitFor();
  assert.equal(
    await log(sitting)
      .getByText(/One and two/)
      .count(),
    1,
  );
  await app.getByRole('button', { name: 'New', exact: true }).click();
  await until('no stream is left', () => open.size === 0);
});

test('the card of a proposal of which nothing is known says so', { timeout: STORY_MS }, async (t) => {
  const sitting = await sitDown(desk, 'unknowing', DESKTOP);
  t.after(() => sitting.context.close());
  const { app, page, context } = sitting;
  desk.provider.play(callingOnce('pantry_add', { note: 'cheese' }, 'I proposed it.'));
  await say(sitting, 'Add cheese.');
  const card = app.getByRole('article', { name: 'add in Pantry' });
  await card.getByText('It waits for your decision.').waitFor();
  const state = /\/v1\/(?:account\/)?proposals\/prop-/;
  let status = 503;
  await context.route(state, (route) =>
    route.fulfill({
      status,
      contentType: 'application/problem+json',
      body: JSON.stringify({
        ...{ type: 'about:blank', title: 'No.', status, detail: 'No.', requestId: 'r' },
        code: status === 404 ? 'not_found' : 'unavailable',
      }),
    }),
  );
  await page.reload();
  await card.getByText('What became of this proposal is not known now.').waitFor();
  status = 404;
  await card.getByRole('button', { name: 'Look again' }).click();
  await card.getByText(/It was decided on, withdrawn or expired/).waitFor();
});
