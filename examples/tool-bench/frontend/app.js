// The page of Tool Bench: lists tools over the bridge, and calls one, itself or by its backend.
import { App } from './platform-sdk.js';

const form = document.querySelector('#bench');
const select = document.querySelector('#tool');
const about = document.querySelector('#about');
const text = document.querySelector('#arguments');
const message = document.querySelector('#message');
const result = document.querySelector('#result');

const app = await App.connect().catch((error) => {
  tell(error);
  throw error;
});
const tools = new Map();

select.addEventListener('change', describe);
form.addEventListener('submit', (event) => {
  event.preventDefault();
  call(event.submitter.value).catch(tell);
});
list().catch(tell);

async function list() {
  message.textContent = 'Looking for tools …';
  for (let cursor; cursor !== null; ) {
    const page = await app.bridge.call('mcp.listTools', cursor === undefined ? {} : { cursor });
    for (const tool of page.items) tools.set(tool.name, tool);
    cursor = page.nextCursor;
  }
  select.replaceChildren(...[...tools.values()].map(({ name, title }) => new Option(title ?? name, name)));
  form.hidden = tools.size === 0;
  message.textContent =
    tools.size === 0 ? 'There is no tool to try. Install Reading List, then open this app again.' : '';
  if (tools.size > 0) describe();
}

// Title, description and schema are words of the app that has the tool: they are shown as text, and nothing follows from them.
function describe() {
  const { description = '', inputSchema, approval } = tools.get(select.value);
  about.textContent = approval === 'required' ? `${description} (You approve each call.)` : description;
  const members = Object.entries(inputSchema.properties ?? {});
  const required = members.filter(([name]) => inputSchema.required?.includes(name));
  const example = required.map(([name, { type }]) => [name, type === 'string' ? '' : null]);
  text.value = JSON.stringify(Object.fromEntries(example), null, 2);
}

async function call(from) {
  result.hidden = true;
  message.textContent = 'Calling …';
  const request = { name: select.value, arguments: JSON.parse(text.value) };
  const answer =
    from === 'page'
      ? await app.bridge.call('mcp.callTool', request, { timeoutMilliseconds: 60_000 })
      : await app.backend.json('/calls', { body: request });
  if (answer.kind === 'proposal') {
    message.textContent = `Waiting for your approval until ${new Date(answer.proposal.expiresAt).toLocaleTimeString()}.`;
    return;
  }
  message.textContent = answer.isError ? 'The tool failed.' : 'Done.';
  result.textContent =
    answer.structuredContent === undefined
      ? answer.content.map((block) => block.text ?? `(${block.type})`).join('\n')
      : JSON.stringify(answer.structuredContent, null, 2);
  result.hidden = false;
}

function tell(error) {
  message.textContent = error instanceof SyntaxError ? 'The arguments are not JSON.' : error.message;
}
