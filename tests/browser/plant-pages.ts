// An agent with a small page of its own, and the pages that its scripted model writes: an app for plants, with a mistake in it, then
// without, then with more.

/** Of the agent: what was said, and a button for each app that it handed in. */
export const AGENT_PAGE = `<!doctype html>
<html lang="en">
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Gardener</title>
  <link rel="stylesheet" href="style.css">
  <main>
    <h1>Gardener</h1>
    <ol id="said" aria-live="polite"></ol>
    <form id="form"><label>Message <input id="text" autocomplete="off"></label> <button>Send</button></form>
  </main>
  <script type="module" src="page.js"></script>
</html>
`;

export const AGENT_STYLE = `:root { color-scheme: light dark; font: 100%/1.5 system-ui, sans-serif; background: light-dark(#f7f9fc, #11151c); color: light-dark(#18202c, #e6ebf3) }
main { max-width: 40rem; margin: 0 auto; padding: 1rem }
ol { padding: 0; list-style: none; display: grid; gap: 0.5rem }
li { padding: 0.5rem 0.75rem; border-radius: 8px; background: light-dark(#fff, #1b2230) }
form { display: flex; gap: 0.5rem; align-items: end }
input { font: inherit; inline-size: 12rem }
button { font: inherit; padding: 0.4rem 1rem }
`;

export const AGENT_SCRIPT = `import { App } from './platform-sdk.js';
const app = await App.connect();
const said = document.querySelector('#said');
const { session } = await app.backend.json('/v1/agent/sessions', { method: 'POST', body: {} });
const path = '/v1/agent/sessions/' + session.id;
let seen = 0;
document.querySelector('#form').addEventListener('submit', async (event) => {
  event.preventDefault();
  await app.backend.json(path + '/messages', { method: 'POST', body: { text: document.querySelector('#text').value } });
  for (let idle = false; !idle; ) {
    const { events } = (await app.backend.json(path + '?limit=200')).session;
    for (const one of events.filter(({ sequence }) => sequence > seen)) {
      seen = one.sequence;
      show(one);
      idle ||= one.event === 'idle';
    }
    await new Promise((done) => setTimeout(done, 200));
  }
});
function show({ event, data }) {
  if (event === 'message') add((data.role === 'user' ? 'You: ' : '') + data.text);
  if (event === 'failed') add('Failed: ' + data.error.message);
  const { draft } = event === 'tool.result' && !data.isError && !data.cut ? JSON.parse(data.text) : {};
  if (draft === undefined) return;
  const button = document.createElement('button');
  button.textContent = 'Review version ' + draft.version;
  button.addEventListener('click', () => app.apps.create(draft.id));
  add('An app for you: ', button);
}
function add(...parts) {
  const item = document.createElement('li');
  item.append(...parts);
  said.append(item);
}
document.body.dataset.ready = 'yes';
`;

const PAGE = (script: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Plants</title>
    <link rel="stylesheet" href="style.css" />
    ${script}
  </head>
  <body>
    <main>
      <h1>My plants</h1>
      <ul id="plants"></ul>
      <p id="message" role="status"></p>
    </main>
  </body>
</html>
`;

/** @param template the page of the template, whose scripts stay */
export function plantPage(template: string): string {
  const scripts = template.match(/<script .*<\/script>/g) ?? [];
  return PAGE(scripts.join('\n    '));
}

const LIST = `// Which plants there are, and what to do with them. It is drawn before the platform is asked for anything.
import { App } from './platform-sdk.js';

const plants = ['Monstera', 'Ficus', 'Basil'];
const list = document.querySelector('#plants');
const message = document.querySelector('#message');
`;
const DRAWN = `
for (const name of plants) {
  const item = document.createElement('li');
  const button = document.createElement('button');
  button.textContent = \`Water \${name}\`;
  button.addEventListener('click', () => water(name));
  item.append(button);
  list.append(item);
}
App.connect().catch(() => undefined);
`;

/** With a mistake: there is no such function. */
export const BROKEN = `${LIST}${DRAWN}
function water(name) {
  message.textContent = wateredToday(name);
}
`;
export const MENDED = `${LIST}${DRAWN}
function water(name) {
  message.textContent = \`\${name} was watered today.\`;
}
`;
export const AMENDED = `${LIST.replace("'Basil'", "'Basil', 'Fern'")}${DRAWN}
function water(name) {
  message.textContent = \`\${name} was watered today.\`;
}
`;
