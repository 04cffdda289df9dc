// Makes the IndexedDB of this process durable, for the databases of accounts that are open: a transaction reports that it is
// complete when its changes are in the account's store, and is taken back where they cannot be written. The databases are
// in memory, so an account that is closed has none.
import { serialize } from 'node:v8';
import type { AccountStore, Change } from './account-store.ts';
import {
  factory,
  openDatabase,
  type RawDatabase,
  type RawObjectStore,
  type RawRecord,
  type RawStore,
  type RawTransaction,
  type RollbackLog,
  rawStorePrototype,
  transactions,
} from './indexed-db-internals.ts';

const SCHEMAS = 'idb';
/** A table of rows is called after its database and its object store, neither of which has a slash in it. */
const rowsTable = (database: string, store: string) => `${SCHEMAS}/${database}/${store}`;

interface Schema {
  readonly database: string;
  readonly version: number;
  readonly stores: readonly {
    readonly name: string;
    readonly keyPath: string | string[] | null;
    readonly autoIncrement: boolean;
    readonly indexes: readonly {
      readonly name: string;
      readonly keyPath: string | string[];
      readonly multiEntry: boolean;
      readonly unique: boolean;
    }[];
  }[];
}

/** The stores of accounts that are open, by the begin of their databases' names. */
const stores = new Map<string, AccountStore>();
/** Of transactions that are under way. */
const changesOf = new WeakMap<RollbackLog, Change[]>();
/** Those that were taken back, or whose changes are being written. */
const ended = new WeakSet<RawTransaction>();
let patched: Promise<void> | null = null;

/**
 * Makes the databases whose names begin with `<prefix>::` those of this store.
 *
 * @returns what removes them from memory again
 */
export async function attachIndexedDb(prefix: string, store: AccountStore): Promise<() => void> {
  patched ??= patch();
  await patched;
  const own = () => [...factory._databases.values()].filter(({ name }) => name.startsWith(`${prefix}::`));
  const detach = () => {
    stores.delete(prefix);
    for (const { name, connections } of own()) {
      for (const connection of connections) connection._closed = true;
      factory._databases.delete(name);
      factory._connectionQueues.delete(name);
    }
  };
  const kept = store.handOver({
    prefix: SCHEMAS,
    isSteady: () => own().every(isSteady),
    rows: () => own().flatMap((database) => [[SCHEMAS, database.name, schemaOf(database)], ...rowsOf(database)]),
  });
  try {
    for (const schema of kept.get(SCHEMAS)?.values() ?? []) await restore(schema as Schema, kept);
  } catch (error) {
    detach();
    throw error;
  }
  // Only now: what is restored is on the disk already.
  stores.set(prefix, store);
  return detach;
}

async function restore(
  { database: name, version, stores: objectStores }: Schema,
  kept: ReadonlyMap<string, ReadonlyMap<string, unknown>>,
): Promise<void> {
  await openDatabase(factory, name, version, (database) => {
    for (const { name: storeName, keyPath, autoIncrement, indexes } of objectStores) {
      const store = database.createObjectStore(storeName, { keyPath, autoIncrement }) as RawObjectStore;
      for (const { name: indexName, keyPath: path, multiEntry, unique } of indexes)
        store.createIndex(indexName, path, { multiEntry, unique });
      for (const row of kept.get(rowsTable(name, storeName))?.values() ?? [])
        store._rawObjectStore.storeRecord({ ...(row as RawRecord) }, false);
    }
  });
}

/** One that is being committed is on its way to the disk: written twice, it is the same. */
function isSteady(database: RawDatabase): boolean {
  return database.transactions.every((one) => ended.has(one) || !changesOf.has(one._rollbackLog));
}

function schemaOf({ name, version, rawObjectStores }: RawDatabase): Schema {
  const described = [...rawObjectStores.values()].map((store) => ({
    name: store.name,
    keyPath: store.keyPath,
    autoIncrement: store.autoIncrement,
    indexes: [...store.rawIndexes.values()].map(({ name: indexName, keyPath, multiEntry, unique }) => ({
      name: indexName,
      keyPath,
      multiEntry,
      unique,
    })),
  }));
  return { database: name, version, stores: described };
}

const rowsOf = ({ rawObjectStores }: RawDatabase): Change[] =>
  [...rawObjectStores.values()].flatMap((store) =>
    [...store.records.values()].map((record) => changeOf(store, record.key, record)),
  );

/** @param record `undefined` where it is gone */
function changeOf(store: RawStore, key: IDBValidKey, record: RawRecord | undefined): Change {
  const value = record === undefined ? undefined : { key: record.key, value: record.value };
  return [rowsTable(store.rawDatabase.name, store.name), serialize(key).toString('base64'), value];
}

const storeOf = (database: string) => stores.get(database.split('::', 1)[0] ?? '');

/** Once for the process. */
async function patch(): Promise<void> {
  const rawStores = await rawStorePrototype();
  noteChanges(rawStores);
  writeBeforeComplete();
}

/** Changes with a rollback log are those of a transaction; the others take something back, or restore. */
function noteChanges(rawStores: RawStore): void {
  const { storeRecord, deleteRecord, clear } = rawStores;
  const note = (rollback: RollbackLog | undefined, store: RawStore, changes: () => Change[]) => {
    if (rollback === undefined || storeOf(store.rawDatabase.name) === undefined) return;
    const noted = changesOf.get(rollback) ?? [];
    changesOf.set(rollback, noted);
    noted.push(...changes());
  };
  rawStores.storeRecord = function (record, noOverwrite, rollback) {
    const key = storeRecord.call(this, record, noOverwrite, rollback);
    note(rollback, this, () => [changeOf(this, key, record)]);
    return key;
  };
  rawStores.deleteRecord = function (key, rollback) {
    const before = rollback === undefined ? [] : recordsIn(this, key);
    deleteRecord.call(this, key, rollback);
    note(rollback, this, () => before.map((record) => changeOf(this, record.key, undefined)));
  };
  rawStores.clear = function (rollback) {
    const before = rollback === undefined ? [] : [...this.records.values()];
    clear.call(this, rollback);
    note(rollback, this, () => before.map((record) => changeOf(this, record.key, undefined)));
  };
}

function recordsIn(store: RawStore, key: IDBValidKey | IDBKeyRange): RawRecord[] {
  const range = key instanceof IDBKeyRange ? key : IDBKeyRange.only(key);
  return [...(store.records as { values(range: IDBKeyRange): Iterable<RawRecord> }).values(range)];
}

/**
 * A transaction with changes is `committing` until they are written, so that none that would see them starts before. The
 * two methods are called one right after the other when its last request was answered.
 */
function writeBeforeComplete(): void {
  const { _markFinished: markFinished, _abort: abort, dispatchEvent } = transactions;
  transactions._abort = function (name) {
    ended.add(this);
    abort.call(this, name);
  };
  transactions._markFinished = function () {
    if (changesFor(this) === null) markFinished.call(this);
    else this._state = 'committing';
  };
  transactions.dispatchEvent = function (event) {
    const changes = event.type === 'complete' ? changesFor(this) : null;
    const store = storeOf(this.db.name);
    if (changes === null || store === undefined) return dispatchEvent.call(this, event);
    ended.add(this);
    store.write(changes).then(
      () => {
        markFinished.call(this);
        dispatchEvent.call(this, event);
      },
      () => abort.call(this, 'QuotaExceededError'),
    );
    return true;
  };
}

/** What a transaction changed; `null` for nothing. */
function changesFor(transaction: RawTransaction): readonly Change[] | null {
  const database = transaction.db._rawDatabase;
  if (transaction.mode === 'readonly' || ended.has(transaction) || storeOf(database.name) === undefined) return null;
  const noted = changesOf.get(transaction._rollbackLog) ?? [];
  // Object stores that an upgrade removed are not restored, so their rows need not be removed one by one.
  if (transaction.mode === 'versionchange') return [...noted, [SCHEMAS, database.name, schemaOf(database)]];
  return noted.length === 0 ? null : noted;
}
