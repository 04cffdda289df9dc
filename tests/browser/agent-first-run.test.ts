// Personal Agent on a platform without any AI provider: it says what to do, to the person and to the operator. Pictures go to
// SCREENSHOT_DIR.
import { after, before, test } from 'node:test';
import { STORY_MS } from '../support/wait.ts';
import { type AgentDesk, sitDown, startAgentDesk } from './agent-desk.ts';
import { DEVICES } from './browser.ts';
import { look } from './look.ts';

let desk: AgentDesk;

before(async () => {
  desk = await startAgentDesk({ providers: 0 });
});
after(() => desk?.close());

for (const [device, viewport] of DEVICES)
  test(`on a ${device} an agent without a provider says what is missing and who can help`, {
    timeout: STORY_MS,
  }, async (t) => {
    const { context, page, app } = await sitDown(desk, `${device}-early`, viewport);
    t.after(() => context.close());
    if (device === 'phone') {
      await app.getByText('Nothing was said yet.').waitFor();
      // Also before the first conversation is opened.
      await app.getByRole('heading', { name: 'Your agent needs an AI provider' }).waitFor();
      await look(page, device, 'agent-empty-list');
      await app.getByRole('button', { name: 'New', exact: true }).click();
    }
    await app.getByRole('heading', { name: 'Your agent needs an AI provider' }).waitFor();
    const seen = (words: string) => app.getByText(words).filter({ visible: true });
    await seen('ask its operator').waitFor();
    await seen('If you run this platform').click();
    await seen('PLATFORM_INTELLIGENCE_FILE').waitFor();
    await look(page, device, 'agent-first-run');
    // Who writes all the same reads the same, and what they wrote is kept.
    await app.getByLabel('Message to your agent').fill('Are you there?');
    await app.getByRole('button', { name: 'Send' }).click();
    await app.getByRole('log').getByText('Are you there?').waitFor();
    await app.getByRole('log').getByRole('heading', { name: 'Your agent needs an AI provider' }).waitFor();
    await app.getByRole('button', { name: 'Try again' }).waitFor();
    await look(page, device, 'agent-first-failure');
  });
