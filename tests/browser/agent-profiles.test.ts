// Several agents of one person: each with its name, instructions, tools and share of the budget. The model is scripted; everything else is
// real. Pictures go to SCREENSHOT_DIR.
import { strict as assert } from 'node:assert';
import { after, before, test } from 'node:test';
import { STORY_MS } from '../support/wait.ts';
import { type AgentDesk, sitDown, startAgentDesk } from './agent-desk.ts';
import { DEVICES } from './browser.ts';
import { look } from './look.ts';

let desk: AgentDesk;

before(async () => {
  desk = await startAgentDesk({ providers: 1 });
});
after(() => desk?.close());

for (const [device, viewport] of DEVICES)
  test(`on a ${device} an agent of its own has its own tools, words and share`, { timeout: STORY_MS }, async (t) => {
    const { context, page, app } = await sitDown(desk, `${device}-owner`, viewport);
    t.after(() => context.close());
    await app.getByRole('button', { name: 'Agents', exact: true }).click();
    await app.getByRole('heading', { name: 'Personal Agent', level: 3 }).waitFor();
    await look(page, device, 'agents-one');
    await app.getByRole('button', { name: 'New agent' }).click();
    await app.getByLabel('Name', { exact: true }).fill('Kitchen help');
    await app.getByLabel('What you want of it').fill('Speak of food alone.');
    await app.getByLabel('Only these').check();
    await app.getByLabel('add in Pantry').check();
    await app.getByLabel('It may ask to search the web').uncheck();
    await app.getByLabel('Model').selectOption({ label: 'scripted' });
    await app.getByLabel('Tokens a month, at most').fill('150');
    await look(page, device, 'agents-form', [
      app.getByRole('heading', { name: 'New agent' }),
      app.getByLabel('Tokens a month, at most'),
    ]);
    await app.getByRole('button', { name: 'Save' }).click();
    await app.getByText(/add in Pantry · never searches the web · scripted · used 0 of 150 tokens/).waitFor();
    await look(page, device, 'agents-two');

    if (device === 'phone') await app.getByLabel('Back to the conversations').click();
    await app.getByRole('button', { name: 'New', exact: true }).click();
    await app.getByLabel('Agent', { exact: true }).selectOption({ label: 'Kitchen help' });
    desk.provider.play(() => ({ text: 'Soup.' }));
    await app.getByLabel('Message to your agent').fill('What is for dinner?');
    await look(page, device, 'agents-new');
    await app.getByRole('button', { name: 'Send', exact: true }).click();
    await app.getByRole('log').getByText('Soup.').waitFor();
    const asked = desk.provider.asked.at(-1);
    const names = asked?.tools.map(({ name }) => name).filter((name) => !name.startsWith('platform-proposals_'));
    assert.deepEqual(names, ['pantry_add']);
    assert.match(JSON.stringify(asked?.messages[0]?.content), /Speak of food alone\./);

    // 100 of its 150 tokens are used: one more answer passes its share, and then nothing goes on.
    await app.getByText('50 of its own share').waitFor();
    await app.getByLabel('Message to your agent').fill('And tomorrow?');
    await app.getByRole('button', { name: 'Send', exact: true }).click();
    await app.getByRole('button', { name: 'Answer again' }).waitFor();
    await app.getByLabel('Message to your agent').fill('And the day after?');
    await app.getByRole('button', { name: 'Send', exact: true }).click();
    await app.getByRole('log').getByText('This agent has used up its share of this month.').waitFor();
    await look(page, device, 'agents-share');

    // The other one still answers.
    if (device === 'phone') await app.getByLabel('Back to the conversations').click();
    await app.getByRole('button', { name: 'New', exact: true }).click();
    await app.getByLabel('Agent', { exact: true }).selectOption({ label: 'Personal Agent' });
    desk.provider.play(() => ({ text: 'Here I am.' }));
    await app.getByLabel('Message to your agent').fill('And you?');
    await app.getByRole('button', { name: 'Send', exact: true }).click();
    await app.getByRole('log').getByText('Here I am.').waitFor();
    assert.ok((desk.provider.asked.at(-1)?.tools.length ?? 0) > 1);

    if (device === 'phone') await app.getByLabel('Back to the conversations').click();
    await app.getByRole('button', { name: 'Agents', exact: true }).click();
    await app.getByRole('button', { name: 'Delete Kitchen help' }).click();
    await app.getByRole('button', { name: 'Yes, delete' }).click();
    await app.getByRole('heading', { name: 'Kitchen help' }).waitFor({ state: 'detached' });
    if (device === 'phone') await app.getByLabel('Back to the conversations').click();
    await app.getByRole('button', { name: /^What is for dinner/ }).click();
    await app.getByLabel('Message to your agent').fill('Are you still there?');
    await app.getByText('The agent of this conversation was deleted.').waitFor();
    assert.ok(await app.getByRole('button', { name: 'Send', exact: true }).isDisabled());
    await look(page, device, 'agents-gone');
  });
