// What this device changed and the platform does not have yet. It outlasts the page: in the storage of the browser, or where that is
// blocked, in what the shell keeps for this app until the person signs out.

/** A key for each edit, so that two tabs never write over each other's. */
const PREFIX = 'edit ';

/**
 * @param onProblem called when the browser takes no more
 * @returns where edits are kept, and why not, in words; of which lists there are any; and those of one list by their key
 */
export async function openKeptEdits(app, onProblem) {
  const storage = localStorageOrNull();
  const edits = new Map(storage ? storedIn(storage) : Object.entries((await app.state.get()) ?? {}));
  let problem = null;

  // Another tab of this app wrote.
  addEventListener('storage', ({ key, newValue }) => {
    if (key === null) edits.clear();
    else if (newValue === null) edits.delete(key);
    else if (key.startsWith(PREFIX)) edits.set(key, JSON.parse(newValue));
  });

  async function keep(name) {
    try {
      if (storage === null) await app.state.set(Object.fromEntries(edits));
      else if (edits.has(name)) storage.setItem(name, JSON.stringify(edits.get(name)));
      else storage.removeItem(name);
      problem = null;
    } catch (error) {
      problem = `Stay here until your changes are sent: this browser has no room to keep them. ${error.message}`;
      onProblem();
    }
  }

  return {
    where: storage ? 'on this device' : 'in this tab',
    get problem() {
      return problem;
    },
    lists: () => new Set([...edits.keys()].map((name) => name.split(' ')[1])),
    of: (list) => {
      const begin = `${PREFIX}${list} `;
      const own = () => [...edits].filter(([name]) => name.startsWith(begin));
      return {
        all: () => new Map(own().map(([name, edit]) => [name.slice(begin.length), edit])),
        get: (key) => edits.get(begin + key) ?? null,
        set: (key, edit) => keep(begin + key, edits.set(begin + key, edit)),
        drop: (key) => keep(begin + key, edits.delete(begin + key)),
      };
    },
  };
}

/** Many browsers forbid it to pages in frames: touching it throws. */
function localStorageOrNull() {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}

function storedIn(storage) {
  const names = Object.keys(storage).filter((name) => name.startsWith(PREFIX));
  return names.map((name) => [name, JSON.parse(storage.getItem(name))]);
}
