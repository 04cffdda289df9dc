// What of fake-indexeddb lies behind its public interface and is needed to make it durable. The version is pinned, and
// durable-indexed-db.test.ts fails where another one is made differently.
import 'fake-indexeddb/auto';
import fakeIndexedDb, { IDBFactory as FakeFactory, IDBTransaction as FakeTransaction } from 'fake-indexeddb';

export type RollbackLog = (() => void)[];

export interface RawRecord {
  readonly key: IDBValidKey;
  readonly value: unknown;
}

export interface RawStore {
  readonly name: string;
  readonly keyPath: string | string[] | null;
  readonly autoIncrement: boolean;
  readonly rawDatabase: RawDatabase;
  readonly rawIndexes: ReadonlyMap<string, RawIndex>;
  readonly keyGenerator: { num: number } | null;
  readonly records: { values(): Iterable<RawRecord> };
  storeRecord(record: RawRecord, noOverwrite: boolean, rollback?: RollbackLog): IDBValidKey;
  deleteRecord(key: IDBValidKey | IDBKeyRange, rollback?: RollbackLog): void;
  clear(rollback?: RollbackLog): void;
}

export interface RawIndex {
  readonly name: string;
  readonly keyPath: string | string[];
  readonly multiEntry: boolean;
  readonly unique: boolean;
}

export interface RawDatabase {
  readonly name: string;
  readonly version: number;
  readonly rawObjectStores: ReadonlyMap<string, RawStore>;
  readonly transactions: readonly RawTransaction[];
  readonly connections: readonly { _closed: boolean }[];
}

export interface RawTransaction extends IDBTransaction {
  _state: 'active' | 'inactive' | 'committing' | 'finished';
  _rollbackLog: RollbackLog;
  _abort(name: string | null): void;
  _markFinished(): void;
  readonly db: IDBDatabase & { readonly _rawDatabase: RawDatabase };
}

export interface RawObjectStore extends IDBObjectStore {
  readonly _rawObjectStore: RawStore;
}

export interface RawFactory extends IDBFactory {
  readonly _databases: Map<string, RawDatabase>;
  readonly _connectionQueues: Map<string, unknown>;
}

/** The prototype of all transactions. */
export const transactions = FakeTransaction.prototype as unknown as RawTransaction;

/** What `indexedDB` is in this process. */
export const factory = fakeIndexedDb as unknown as RawFactory;

/** The prototype of all raw stores, of which the package exports no class. */
export async function rawStorePrototype(): Promise<RawStore> {
  return openDatabase(new FakeFactory(), 'probe', 1, (database) => {
    const store = database.createObjectStore('probe') as RawObjectStore;
    return Object.getPrototypeOf(store._rawObjectStore) as RawStore;
  });
}

/** Opens a database of a new version, which `make` fills. */
export function openDatabase<Made>(
  factory: IDBFactory,
  name: string,
  version: number,
  make: (database: IDBDatabase) => Made,
): Promise<Made> {
  return new Promise((resolve, reject) => {
    const request = factory.open(name, version);
    let made: Made;
    request.onupgradeneeded = () => {
      made = make(request.result);
    };
    request.onsuccess = () => {
      request.result.close();
      resolve(made);
    };
    request.onerror = () => reject(request.error);
  });
}
