// The page: which lists there are, which one is shown, and how the person changes it. There is no backend: items are in a collection of
// the platform, which all who share it read and write.

import { followList } from './follow-list.js';
import { openKeptEdits } from './kept-edits.js';
import { openPeople } from './people.js';
import { App } from './platform-sdk.js';
import { drawRows, inWords } from './rows.js';

const KIND = 'shopping-list';
const one = (id) => document.querySelector(`#${id}`);
const status = one('status');
const text = one('text');

const app = await App.connect().catch((error) => {
  status.textContent = error.message;
  throw error;
});
const content = app.content();
const kept = await openKeptEdits(app, () => list && draw());

let lists = [];
let shown = null;
/** What is known of it. */
let list = null;

const showPeople = openPeople({ app, content, deleted: () => load().catch(tell) });

one('lists').addEventListener('change', ({ target }) => show(lists.find(({ id }) => id === target.value)));
one('share').addEventListener('click', () => showPeople(shown));
one('make').addEventListener('click', () => one('new-list').showModal());
one('new-list')
  .querySelector('.close')
  .addEventListener('click', () => one('new-list').close());
one('new-list').addEventListener('submit', async (event) => {
  event.preventDefault();
  const problem = one('new-list').querySelector('[role=status]');
  problem.textContent = '';
  try {
    const made = await content.create({ kind: KIND, name: one('name').value.trim() });
    one('name').value = '';
    one('new-list').close();
    await load(made.id);
    text.focus();
  } catch (error) {
    problem.textContent = error.message;
  }
});
one('add').addEventListener('submit', (event) => {
  event.preventDefault();
  const words = text.value.trim();
  text.value = '';
  // Keys are in the order of their making.
  if (words !== '')
    list.change(`${Date.now().toString(36)}-${crypto.randomUUID()}`, { text: words, isDone: false }, null);
});

// The platform loads the page again where it was.
await load(new URLSearchParams(location.search).get('list')).catch(tell);

async function load(wanted) {
  const all = [];
  let cursor;
  do {
    const page = await content.list({ limit: 200, ...(cursor && { cursor }) });
    all.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  lists = all.filter(({ kind }) => kind === KIND);
  one('make').hidden = false;
  one('lists').replaceChildren(...lists.map(({ id }) => new Option('', id)));
  one('lists').hidden = lists.length < 2;
  one('none').hidden = lists.length > 0;
  show(lists.find(({ id }) => id === wanted) ?? lists[0] ?? null);
  showUnsent();
}

/** Changes to lists that the person does not have any more: they cannot be sent, and are not dropped unseen. */
function showUnsent() {
  const gone = [...kept.lists()].filter((id) => !lists.some((known) => known.id === id));
  const edits = gone.flatMap((id) => [...kept.of(id).all().values()]);
  one('unsent').hidden = edits.length === 0;
  one('unsent').querySelector('p').textContent =
    `You no longer have a list that you changed. Not sent: ${edits.map(({ value }) => inWords(value)).join('; ')}.`;
  one('unsent').querySelector('button').onclick = () => {
    for (const id of gone) for (const key of kept.of(id).all().keys()) kept.of(id).drop(key);
    showUnsent();
  };
}

function show(next) {
  list?.close();
  shown = next;
  one('share').hidden = next === null;
  one('list').hidden = next === null;
  document.querySelector('h1').textContent = next?.name ?? 'Shopping List';
  history.replaceState(null, '', next === null ? location.pathname : `?list=${next.id}`);
  one('open').replaceChildren();
  one('done').replaceChildren();
  list = null;
  status.textContent = '';
  if (next === null) return;
  for (const option of one('lists').options) {
    const waiting = option.value === next.id ? 0 : kept.of(option.value).all().size;
    const { name } = lists.find(({ id }) => id === option.value);
    option.textContent = waiting === 0 ? name : `${name} (${waiting} not sent)`;
  }
  one('lists').value = next.id;
  list = followList({
    content,
    id: next.id,
    edits: kept.of(next.id),
    onChange: () => shown === next && list && draw(),
  });
  draw();
}

function draw() {
  drawRows({ open: one('open'), done: one('done'), list });
  // What would be added could not be sent.
  one('list').inert = list.lost !== null;
  one('add').hidden = list.lost !== null;
  one('basket').hidden = one('done').children.length === 0;
  one('empty').hidden = !list.isLoaded || one('open').children.length > 0;
  const words = stateInWords();
  // A screen reader reads what changes.
  if (status.textContent !== words) status.textContent = words;
}

function stateInWords() {
  const { waiting } = list;
  const changes = waiting === 1 ? '1 change' : `${waiting} changes`;
  if (list.lost !== null) {
    const unsent = list.entries().filter(({ edit }) => edit !== null);
    const words = `This list can’t be read any more. ${list.lost}`;
    return unsent.length === 0 ? words : `${words} Not sent: ${unsent.map(({ value }) => inWords(value)).join('; ')}.`;
  }
  if (kept.problem !== null && waiting > 0) return kept.problem;
  const choices = document.querySelectorAll('[data-kind=conflict]').length;
  if (choices > 0)
    return choices === 1 ? 'Choose what becomes of one item.' : `Choose what becomes of ${choices} items.`;
  if (!list.isOnline)
    return waiting === 0
      ? `Offline. What you change is kept ${kept.where}, and sent later.`
      : `Offline. ${changes} kept ${kept.where}, to be sent later.`;
  if (!list.isLoaded) return 'Loading …';
  return '';
}

function tell(error) {
  status.textContent = error.message;
}
