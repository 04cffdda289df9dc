// Personal Agent prepares an app: its card leads to the review of the shell, where its person accepts it or not. The model is scripted;
// everything else is real. Pictures go to SCREENSHOT_DIR.
import { after, before, test } from 'node:test';
import { STORY_MS } from '../support/wait.ts';
import { type AgentDesk, callingOnce, sitDown, startAgentDesk } from './agent-desk.ts';
import { DEVICES, noDialog, pressInPrompt } from './browser.ts';
import { look } from './look.ts';

let desk: AgentDesk;

before(async () => {
  desk = await startAgentDesk({ providers: 1 });
});
after(() => desk?.close());

const files = (id: string) => ({
  'manifest.json': JSON.stringify({
    ...{ schemaVersion: 9, id, version: '1.0.0', name: 'Plants', summary: 'Says which plant needs water.' },
    ...{ frontend: { entry: 'index.html' }, permissions: [] },
  }),
  'frontend/index.html': '<!doctype html><html lang="en"><title>Plants</title><h1>All are watered</h1></html>',
});

for (const [device, viewport] of DEVICES)
  test(`on a ${device} an app that the agent made is reviewed from its card`, { timeout: STORY_MS }, async (t) => {
    const { context, page, app } = await sitDown(desk, `${device}-planter`, viewport);
    t.after(() => context.close());
    const appId = `agent-plants-${device}`;
    desk.provider.play(callingOnce('platform-apps_create', { appId, files: files(appId) }, 'I made an app for you.'));
    if (device === 'phone') await app.getByRole('button', { name: 'New', exact: true }).click();
    await app.getByLabel('Message to your agent').fill('Make an app for my plants.');
    await app.getByRole('button', { name: 'Send', exact: true }).click();
    await app.getByRole('log').getByText('I made an app for you.').waitFor();
    const card = app.getByRole('article', { name: 'Make an app' });
    await card.getByText('Nothing is installed until you have reviewed and accepted it.').waitFor();
    await look(page, device, 'agent-made-app');
    await card.getByRole('button', { name: 'Open the review' }).click();
    const review = page.getByRole('dialog', { name: 'Add Plants?' });
    await review.waitFor();
    await look(page, device, 'agent-made-app-review');
    const done = page.getByRole('heading', { name: 'Plants is installed' });
    await pressInPrompt(review.getByRole('button', { name: 'Add Plants', exact: true }), done);
    await page.keyboard.press('Escape');
    await noDialog(page).waitFor();
    await card.getByText('You accepted this app.').waitFor();
    await look(page, device, 'agent-made-app-accepted');
  });
