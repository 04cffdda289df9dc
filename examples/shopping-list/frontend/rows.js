// The rows of a list: an item to tick off, to change in place and to remove, or the two versions that the person chooses from.

/** @param list as `followList` gives it, of the list that is shown */
export function drawRows({ open, done, list }) {
  const focused = document.activeElement;
  const known = new Map([...open.children, ...done.children].map((row) => [row.dataset.key, row]));
  const rows = list.entries().map((entry) => {
    const kind = kindOf(entry.edit);
    const former = known.get(entry.key);
    const row = former?.dataset.kind === kind ? former : rowOf(entry.key, kind, list);
    row.update(entry);
    return { row, isDone: kind === 'item' && entry.value.isDone };
  });
  place(
    open,
    rows.filter(({ isDone }) => !isDone),
  );
  place(
    done,
    rows.filter(({ isDone }) => isDone),
  );
  if (focused?.isConnected && document.activeElement !== focused) focused.focus();
}

/** Moves only what is elsewhere. */
function place(parent, rows) {
  const wanted = new Set(rows.map(({ row }) => row));
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  for (const [at, { row }] of rows.entries())
    if (parent.children[at] !== row) parent.insertBefore(row, parent.children[at] ?? null);
}

function kindOf(edit) {
  if (edit?.theirs !== undefined) return 'conflict';
  return edit?.problem === undefined ? 'item' : 'refused';
}

function rowOf(key, kind, list) {
  const row = document.createElement('li');
  row.dataset.key = key;
  row.dataset.kind = kind;
  row.update = { item: itemRow, conflict: conflictRow, refused: refusedRow }[kind](row, key, list);
  return row;
}

function itemRow(row, key, list) {
  const box = document.createElement('input');
  box.type = 'checkbox';
  const text = document.createElement('input');
  text.maxLength = 200;
  text.enterKeyHint = 'done';
  const remove = button('×');
  let shown = null;
  const change = (value) => list.change(key, value, shown.base);
  box.addEventListener('change', () => change({ text: shown.value.text, isDone: box.checked }));
  text.addEventListener('change', () => {
    if (text.value.trim() === '') text.value = shown.value.text;
    else change({ text: text.value.trim(), isDone: box.checked });
  });
  text.addEventListener('blur', () => row.update(row.latest));
  text.addEventListener('keydown', ({ key: pressed }) => {
    if (pressed === 'Escape') text.value = shown.value.text;
    if (pressed === 'Enter' || pressed === 'Escape') text.blur();
  });
  remove.addEventListener('click', () => {
    (row.nextElementSibling ?? row.previousElementSibling)?.querySelector('button')?.focus();
    change(null);
  });
  row.append(box, text, remove);
  return (entry) => {
    row.latest = entry;
    row.classList.toggle('waits', entry.edit !== null);
    // What somebody is typing in stays: they decide on what they saw.
    if (document.activeElement === text && shown !== null) return;
    shown = entry;
    const { text: words, isDone } = entry.value;
    box.checked = isDone;
    box.ariaLabel = `${words}: in the basket`;
    if (text.value !== words) text.value = words;
    text.ariaLabel = `Change ${words}`;
    remove.ariaLabel = `Remove ${words}`;
  };
}

function conflictRow(row, key, list) {
  const why = document.createElement('p');
  why.textContent = 'You and somebody else changed this item.';
  const mine = choice('Yours', 'Keep mine', () => list.keepMine(key));
  const theirs = choice('Theirs', 'Keep theirs', () => list.keepTheirs(key));
  row.append(why, mine.element, theirs.element);
  return ({ edit }) => {
    mine.say(edit.value);
    theirs.say(edit.theirs?.value ?? null);
  };
}

function choice(whose, label, choose) {
  const element = document.createElement('div');
  element.className = 'choice';
  const words = document.createElement('span');
  const keep = button(label, choose);
  element.append(words, keep);
  const say = (value) => {
    words.textContent = `${whose}: ${inWords(value)}`;
    keep.ariaLabel = `${label}: ${inWords(value)}`;
  };
  return { element, say };
}

function refusedRow(row, key, list) {
  const why = document.createElement('p');
  const buttons = document.createElement('div');
  buttons.className = 'choice';
  buttons.append(
    button('Try again', () => list.keepMine(key)),
    button('Discard my change', () => list.keepTheirs(key)),
  );
  row.append(why, buttons);
  return ({ edit }) => {
    why.textContent = `${inWords(edit.value)}: not sent. ${edit.problem}`;
  };
}

/** An item, or `null` for one that was removed. */
export function inWords(value) {
  if (value === null) return 'removed';
  return value.isDone ? `${value.text}, in the basket` : value.text;
}

function button(words, press) {
  const element = document.createElement('button');
  element.type = 'button';
  element.textContent = words;
  if (press) element.addEventListener('click', press);
  return element;
}
