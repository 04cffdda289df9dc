// What this device changed and the platform does not have yet. It outlasts the page: in the storage of the browser, or where that is
// blocked, in what the shell keeps for this app until the person signs out.

/** A key for each edit, so that two tabs never write over each other's. */
const PREFIX = 'edit ';

/** @returns where they are kept, in words; of which lists there are any; and the edits of one list by their key */
export async function openKeptEdits(app) {
  const storage = localStorageOrNull();
  const entries = storage ? storageEntries(storage) : await shellEntries(app);

  return {
    where: storage ? 'on this device' : 'in this tab',
    lists: () => new Set(entries.all().map(([name]) => name.split(' ')[1])),
    of: (list) => {
      const begin = `${PREFIX}${list} `;
      return {
        all: () =>
          new Map(
            entries
              .all()
              .filter(([name]) => name.startsWith(begin))
              .map(([name, edit]) => [name.slice(begin.length), edit]),
          ),
        get: (key) => entries.get(begin + key),
        set: (key, edit) => entries.set(begin + key, edit),
        drop: (key) => entries.drop(begin + key),
      };
    },
  };
}

function localStorageOrNull() {
  try {
    localStorage.setItem('probe', '');
    localStorage.removeItem('probe');
    return localStorage;
  } catch {
    return null;
  }
}

function storageEntries(storage) {
  const read = (name) => JSON.parse(storage.getItem(name) ?? 'null');
  return {
    all: () =>
      Object.keys(storage)
        .filter((name) => name.startsWith(PREFIX))
        .map((name) => [name, read(name)]),
    get: read,
    set: (name, edit) => storage.setItem(name, JSON.stringify(edit)),
    drop: (name) => storage.removeItem(name),
  };
}

async function shellEntries(app) {
  const edits = new Map(Object.entries((await app.state.get()) ?? {}));
  const keep = () => app.state.set(Object.fromEntries(edits)).catch(console.error);
  return {
    all: () => [...edits],
    get: (name) => edits.get(name) ?? null,
    set: (name, edit) => keep(edits.set(name, edit)),
    drop: (name) => keep(edits.delete(name)),
  };
}
