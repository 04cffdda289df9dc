// The entries: sealed by the shell, and kept as files of this app. All that leaves the page is their time and what only the person's
// browsers can open.

/** @param app of the SDK */
export function sealedEntries(app) {
  const files = app.files();

  return {
    /** The names of all entries, the newest first. They begin with the time, so the order is theirs. */
    async names() {
      const names = [];
      let cursor;
      do {
        const page = await files.list({ limit: 200, ...(cursor && { cursor }) });
        names.push(...page.items.map(({ name }) => name));
        cursor = page.nextCursor;
      } while (cursor !== null);
      return names.reverse();
    },

    async write(text) {
      const name = `${new Date().toISOString().replaceAll(':', '.')} ${crypto.randomUUID().slice(0, 8)}`;
      // With its name, so that whoever keeps the files cannot pass one entry for another.
      const sealed = await app.recipient.seal(JSON.stringify({ name, text }));
      await files.put(name, sealed, { type: 'text/plain', ifNoneMatch: '*' });
      return name;
    },

    /** @throws with words for the person when it cannot be opened */
    async read(name) {
      const { bytes } = await files.get(name);
      const opened = await app.recipient.open(new TextDecoder().decode(bytes));
      const entry = JSON.parse(new TextDecoder().decode(opened));
      if (entry.name !== name) throw new Error('Another entry was put in its place.');
      return entry.text;
    },

    remove: (name) => files.remove(name),
  };
}

/** When an entry was written. */
export function timeOf(name) {
  return new Date(name.split(' ')[0].replace(/(?<=T\d\d)\.(\d\d)\./, ':$1:'));
}
