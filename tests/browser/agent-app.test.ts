// A person talks with Personal Agent: answers as they are written, tools with and without a question, web search, stop, retry, a message
// written anew, and the search over what was said. The model is scripted; everything else is real. Pictures go to SCREENSHOT_DIR.
import { strict as assert } from 'node:assert';
import { after, before, test } from 'node:test';
import { STORY_MS, until } from '../support/wait.ts';
import { type AgentDesk, callingOnce, heard, type Sitting, sitDown, startAgentDesk } from './agent-desk.ts';
import { DEVICES, noDialog, pressInPrompt } from './browser.ts';
import { look } from './look.ts';

const ANSWER = [
  '## Three ways to water a fern\n\nFerns like it **moist**, as [the society](https://ferns.example/care) says:\n\n',
  '1. From below, in a bowl.\n2. With a can, `twice` a week.\n3. In the shower.\n\n',
  '| Season | Water |\n|---|---|\n| Summer | much |\n| Winter | little |\n\n',
  '```js\nconst water = (fern) => fern.isDry && fern.drink();\n```\n\n<b onclick="alert(1)">No bold</b>',
].join('');

let desk: AgentDesk;

before(async () => {
  desk = await startAgentDesk({ providers: 1 });
  desk.engine.results = [{ title: 'Ferns', url: 'https://ferns.example/', text: 'Water them.' }];
});
after(() => desk?.close());

async function say({ app }: Sitting, text: string): Promise<void> {
  await app.getByLabel('Message to your agent').fill(text);
  await app.getByRole('button', { name: 'Send', exact: true }).click();
}

async function begin(sitting: Sitting, device: string, text: string): Promise<void> {
  const { app } = sitting;
  if (device === 'phone' && (await app.getByLabel('Back to the conversations').isVisible()))
    await app.getByLabel('Back to the conversations').click();
  await app.getByRole('button', { name: 'New', exact: true }).click();
  await say(sitting, text);
}

const log = ({ app }: Sitting) => app.getByRole('log');
const card = ({ app }: Sitting, name: string | RegExp) => app.getByRole('article', { name });

for (const [device, viewport] of DEVICES)
  test(`on a ${device} a person talks with their agent`, { timeout: STORY_MS }, async (t) => {
    const sitting = await sitDown(desk, `${device}-talker`, viewport);
    const { context, page, app } = sitting;
    t.after(() => context.close());

    await t.test('an answer is read as it is written, and is there after a reload', async () => {
      const held = Promise.withResolvers<void>();
      desk.provider.play(() => ({ text: ANSWER, hold: held.promise }));
      if (device === 'phone') await app.getByRole('button', { name: 'New', exact: true }).click();
      await app.getByText(/1 million tokens left this month/).waitFor();
      await look(page, device, 'agent-new');
      await say(sitting, 'How do I water a fern?');
      await log(sitting).getByText('Three ways to water a fern').waitFor();
      await app.getByRole('button', { name: 'Stop' }).waitFor();
      await look(page, device, 'agent-writing');
      held.resolve();
      await log(sitting).getByText('fern.drink()').waitFor();
      await app.getByRole('button', { name: 'Answer again' }).waitFor();
      assert.equal(await log(sitting).locator('b').count(), 0, 'no text becomes an element');
      await log(sitting).getByRole('link', { name: 'the society (ferns.example)' }).waitFor();
      await look(page, device, 'agent-answer');
      await app.getByRole('button', { name: 'Copy the code' }).click();
      await app.getByRole('button', { name: 'Copied the code' }).waitFor();
      await app.getByLabel('Message to your agent').fill('Not sent yet');
      await page.reload();
      await log(sitting).getByText('fern.drink()').waitFor();
      assert.equal(await app.getByLabel('Message to your agent').inputValue(), 'Not sent yet');
      await log(sitting).getByRole('link', { name: 'the society (ferns.example)' }).click();
      await pressInPrompt(
        page.getByRole('dialog').getByRole('button', { name: /^(?:Don’t open|Cancel|No)/ }),
        noDialog(page),
      );
    });

    await t.test('a tool that it may use is a card with what was sent and answered', async () => {
      desk.provider.play(callingOnce('platform-apps_list', {}, 'You have Pantry.'));
      await say(sitting, 'Which apps do I have?');
      await log(sitting).getByText('You have Pantry.').waitFor();
      const tool = card(sitting, /apps/i);
      await tool.getByText('Done', { exact: true }).waitFor();
      await tool.locator('summary').first().click();
      await tool.getByText(/The platform answered this\. Words of other people and of apps/).waitFor();
      await tool.getByText('"pantry"').first().waitFor();
      await look(page, device, 'agent-tool');
    });

    await t.test(
      'a proposal is decided on the platform’s own surface, and the card says what became of it',
      async () => {
        desk.provider.play(callingOnce('pantry_add', { note: 'cheese' }, 'I proposed to add cheese.'));
        await say(sitting, 'Add cheese to the pantry.');
        await log(sitting).getByText('I proposed to add cheese.').waitFor();
        const tool = card(sitting, 'add in Pantry');
        await tool.getByText('It waits for your decision.').waitFor();
        await look(page, device, 'agent-proposal');
        await tool.getByRole('button', { name: 'Decide' }).click();
        const question = page.getByRole('dialog', { name: 'add in Pantry?' });
        await question.getByText('cheese').waitFor();
        await look(page, device, 'agent-proposal-question');
        await pressInPrompt(question.getByRole('button', { name: 'Approve' }), noDialog(page));
        await tool.getByText('You approved it, and it was done.').waitFor();
        await look(page, device, 'agent-proposal-done');

        desk.provider.play(callingOnce('pantry_add', { note: 'more cheese' }, 'I proposed it again.'));
        await say(sitting, 'And more cheese.');
        await log(sitting).getByText('I proposed it again.').waitFor();
        const second = card(sitting, 'add in Pantry').last();
        await second.getByRole('button', { name: 'Decide' }).click();
        await pressInPrompt(question.getByRole('button', { name: 'Decline' }), noDialog(page));
        await second.getByText('You declined it. Nothing was done.').waitFor();
      },
    );

    await t.test('a web search waits for the person, who answers the platform', async () => {
      desk.provider.play(callingOnce('web_search', { query: 'ferns in winter' }, 'Water them less.'));
      await say(sitting, 'And in winter?');
      const question = page.getByRole('dialog', { name: 'Search the web?', exact: true });
      await question.getByText('ferns in winter').waitFor();
      const tool = card(sitting, 'Search the web');
      await tool.getByText('The platform asks you whether it may search for this.').waitFor();
      await look(page, device, 'agent-web-search');
      await pressInPrompt(question.getByRole('button', { name: 'Search once' }), noDialog(page));
      await log(sitting).getByText('Water them less.').waitFor();
      await tool.getByText('Done', { exact: true }).waitFor();
      desk.provider.play(callingOnce('web_search', { query: 'private matters' }, 'You did not want that.'));
      await say(sitting, 'And what about me?');
      await question.waitFor();
      await pressInPrompt(question.getByRole('button', { name: 'Don’t search' }), noDialog(page));
      await log(sitting).getByText('You did not want that.').waitFor();
      await card(sitting, 'Search the web').last().getByText('Not searched', { exact: true }).waitFor();
    });

    await t.test('what was stopped is said to be, and is tried again', async () => {
      const held = Promise.withResolvers<void>();
      desk.provider.play(() => ({ text: 'One, two, three and for ever.', hold: held.promise }));
      await begin(sitting, device, 'Count for ever.');
      await log(sitting)
        .getByText(/^One, two/)
        .waitFor();
      await app.getByRole('button', { name: 'Stop' }).click();
      await log(sitting).getByText('You stopped this.').waitFor();
      held.resolve();
      await look(page, device, 'agent-stopped');
      desk.provider.play(() => ({ text: 'Four.' }));
      await app.getByRole('button', { name: 'Try again' }).click();
      await log(sitting).getByText('Four.').waitFor();
    });

    await t.test('what failed says why, and is tried again', async () => {
      desk.provider.play(() => ({ status: 400 }));
      await say(sitting, 'And then?');
      await log(sitting).getByText('The scripted model fails.').waitFor();
      await look(page, device, 'agent-failed');
      desk.provider.play(() => ({ text: 'Five.' }));
      await app.getByRole('button', { name: 'Try again' }).click();
      await log(sitting).getByText('Five.').waitFor();
    });

    await t.test('a restart in the middle is said to be one, and the conversation goes on by itself', async () => {
      const held = Promise.withResolvers<void>();
      desk.provider.play(() => ({ text: 'Six, and then for ever.', hold: held.promise }));
      await say(sitting, 'And then?');
      await log(sitting)
        .getByText(/^Six, and/)
        .waitFor();
      for (const act of ['stop', 'start']) await sitting.account.browser.take(`/v1/apps/agent/${act}`, { body: {} });
      held.resolve();
      await log(sitting)
        .getByText(/The agent was restarted in the middle of this turn/)
        .waitFor();
      desk.provider.play(() => ({ text: 'Six.' }));
      await app.getByRole('button', { name: 'Try again' }).click();
      await log(sitting).getByText('Six.', { exact: true }).waitFor();
    });

    await t.test('a message written anew begins a conversation of its own, and the other one stays', async () => {
      desk.provider.play((asked) => ({ text: `You said: ${heard(asked).said}` }));
      await log(sitting).getByRole('button', { name: /^Edit/ }).first().click();
      await app.getByLabel('Your message, written anew').fill('Count to three.');
      await look(page, device, 'agent-edit');
      await app.getByRole('button', { name: 'Send anew' }).click();
      await log(sitting).getByText('You said: Count to three.').waitFor();
      assert.equal(await log(sitting).getByText('Five.').count(), 0);
      if (device === 'phone') await app.getByLabel('Back to the conversations').click();
      const list = app.getByRole('region', { name: 'Conversations' }).getByRole('listitem');
      await until('both are in the list', async () => (await list.count()) === 3);
    });

    await t.test('words that were said lead to their conversation', async () => {
      await app.getByLabel('Search conversations').fill('moist summer');
      const found = app.getByRole('region', { name: 'Conversations' }).getByRole('listitem');
      await found.getByText(/Ferns like it/).waitFor();
      assert.equal(await found.count(), 1);
      await look(page, device, 'agent-search');
      await found.getByRole('button').click();
      await log(sitting).getByText('fern.drink()').waitFor();
      if (device === 'phone') await app.getByLabel('Back to the conversations').click();
      await app.getByLabel('Search conversations').fill('');
    });

    await t.test('a conversation is renamed, and deleted after a question', async () => {
      const list = app.getByRole('region', { name: 'Conversations' });
      await list.getByRole('button', { name: /^How do I water a fern/ }).click();
      await app.getByLabel('More').click();
      await app.getByRole('button', { name: 'Rename' }).click();
      await app.getByLabel('Title of this conversation').fill('Ferns');
      await app.getByRole('button', { name: 'Save' }).click();
      await app.getByRole('heading', { name: 'Ferns', exact: true }).waitFor();
      await app.getByLabel('More').click();
      await app.getByRole('button', { name: 'Delete this conversation' }).click();
      await look(page, device, 'agent-delete');
      await app.getByRole('button', { name: 'Yes, delete' }).click();
      await list.getByRole('button', { name: /^Ferns/ }).waitFor({ state: 'detached' });
    });
  });
