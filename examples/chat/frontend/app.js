// The page of Chat. It asks its own backend, workload/server.mjs, and shows each piece of an answer as it arrives.
import { App } from './platform-sdk.js';

const model = document.querySelector('#model');
const fresh = document.querySelector('#fresh');
const log = document.querySelector('#log');
const list = document.querySelector('#messages');
const empty = document.querySelector('#empty');
const notice = document.querySelector('#notice');
const again = document.querySelector('#again');
const form = document.querySelector('#ask');
const text = document.querySelector('#text');
const send = document.querySelector('#send');
const used = document.querySelector('#used');

/** The shell keeps 64 KiB for an app; the model gets the same part of the chat. */
const MOST_CHARACTERS = 16_000;

/** Ends the answer under way. */
let stop = null;

const app = await App.connect().catch((error) => {
  tell(error);
  throw error;
});

// The platform unloads an app when the person goes to another one, such as Settings. The chat is there when they return.
const chat = { messages: [], tokens: 0, model: '', draft: '', ...(await app.state.get().catch(() => null)) };
// They left before the answer began.
if (chat.messages.at(-1)?.role === 'user') chat.draft = chat.messages.pop().content;
text.value ||= chat.draft;
for (const message of chat.messages) show(message);
used.textContent = usedInWords();

text.addEventListener('input', keep);
text.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  if (stop === null) form.requestSubmit();
});
model.addEventListener('change', keep);
again.addEventListener('click', listModels);
fresh.addEventListener('click', () => {
  Object.assign(chat, { messages: [], tokens: 0 });
  list.replaceChildren();
  notice.textContent = '';
  used.textContent = usedInWords();
  empty.hidden = false;
  keep();
  text.focus();
});
form.addEventListener('submit', (event) => {
  event.preventDefault();
  if (stop !== null) stop.abort();
  else if (text.value.trim() !== '' && model.value !== '') ask(text.value.trim());
});
await listModels();

async function listModels() {
  again.hidden = true;
  notice.textContent = 'Looking for models …';
  try {
    if (!app.context.capabilities.some(({ id }) => id === 'intelligence.use'))
      throw new Error('Chat may not use AI models. You can allow it in Settings → Apps → Chat.');
    const { models } = await app.backend.json('/models');
    model.replaceChildren(...models.map((id) => new Option(id, id)));
    if (models.includes(chat.model)) model.value = chat.model;
    model.hidden = false;
    fresh.hidden = false;
    send.disabled = false;
    empty.hidden = chat.messages.length > 0;
    notice.textContent = models.length > 0 ? '' : 'The AI provider lists no model that Chat may use.';
  } catch (error) {
    tell(error);
    again.hidden = false;
  }
}

async function ask(question) {
  const asked = show({ role: 'user', content: question });
  const answer = { role: 'assistant', content: '' };
  const element = show(answer);
  chat.messages.push({ role: 'user', content: question });
  begin();
  let tokens = null;
  try {
    for await (const piece of pieces({ model: model.value, messages: recent() }, stop.signal)) {
      if (piece.problem) throw new Error(piece.problem);
      if (piece.cut) notice.textContent = 'The answer ends here: it reached its limit of tokens.';
      if (piece.tokens) tokens = piece.tokens;
      answer.content += piece.text ?? '';
      write(element, answer.content);
    }
  } catch (error) {
    if (!stop.signal.aborted) tell(error);
  }
  if (answer.content === '') {
    // Nothing came. The question goes back, to be sent again.
    chat.messages.pop();
    asked.remove();
    element.remove();
    text.value ||= question;
    empty.hidden = chat.messages.length > 0;
  } else chat.messages.push(answer);
  if (tokens !== null) chat.tokens += tokens;
  used.textContent = usedInWords(tokens);
  end();
}

function begin() {
  stop = new AbortController();
  send.textContent = 'Stop';
  fresh.disabled = true;
  // A screen reader reads the answer when it is there, not each word.
  log.ariaBusy = 'true';
  text.value = '';
  text.required = false;
  notice.textContent = '';
  empty.hidden = true;
  keep();
}

function end() {
  stop = null;
  send.textContent = 'Send';
  fresh.disabled = false;
  log.ariaBusy = 'false';
  text.required = true;
  keep();
}

/** What the backend writes, a line of JSON each. */
async function* pieces(body, signal) {
  const headers = { 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify(body), signal };
  const response = await app.backend.fetch('/answer', init);
  if (!response.ok) throw new Error((await response.json()).detail);
  let rest = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines) yield JSON.parse(line);
  }
}

/** The end of the chat, as much as fits. */
function recent() {
  let begin = chat.messages.length;
  let characters = 0;
  while (begin > 0 && characters + chat.messages[begin - 1].content.length <= MOST_CHARACTERS)
    characters += chat.messages[--begin].content.length;
  return chat.messages.slice(begin);
}

function show({ role, content }) {
  const element = document.createElement('li');
  element.className = role;
  const who = document.createElement('span');
  who.className = 'who';
  who.textContent = role === 'user' ? 'You' : 'Answer';
  const words = document.createElement('p');
  element.append(who, words);
  list.append(element);
  write(element, content);
  return element;
}

function write(element, content) {
  const page = document.documentElement;
  const isAtEnd = page.scrollHeight - page.scrollTop - page.clientHeight < 120;
  element.querySelector('p').textContent = content;
  if (isAtEnd) page.scrollTop = page.scrollHeight;
}

function usedInWords(tokens) {
  if (chat.tokens === 0) return 'Settings → AI shows what Chat used this month, and its limit.';
  const all = `${chat.tokens.toLocaleString()} tokens in this chat`;
  const last = tokens ? `${tokens.toLocaleString()} tokens for this answer, ` : '';
  return `${last}${all}. Settings → AI shows what is left this month.`;
}

function keep() {
  const { tokens } = chat;
  app.state.set({ messages: recent(), tokens, model: model.value || chat.model, draft: text.value }).catch(tell);
}

function tell(error) {
  notice.textContent = error.message;
}
