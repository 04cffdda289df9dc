// The store of one account: small tables, held in memory while it is open, whose every change goes to a sealed log before
// `commit` resolves. What changed together is one record, so that a crash leaves all of it or nothing.
import { deserialize, serialize } from 'node:v8';
import { openSealedLog, type SealedLog } from './sealed-log.ts';

export type Change = readonly [table: string, key: string, value: unknown];

export interface Table<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): void;
  values(): Iterable<Value>;
  readonly size: number;
}

/** Tables whose rows somebody else holds in memory. */
export interface HeldElsewhere {
  /** Tables of this name's begin are its. */
  readonly prefix: string;
  /** Whether `rows` would have nothing that is yet to be committed, or taken back. */
  isSteady(): boolean;
  /** All its rows as they are now. */
  rows(): Iterable<Change>;
}

export interface AccountStore {
  table<Value>(name: string): Table<Value>;
  /** Resolves when everything that was set until now is on the disk. */
  commit(): Promise<void>;
  /** As `commit`, with these changes as well. */
  write(changes: readonly Change[]): Promise<void>;
  /** Hands over the rows of these tables, which the store itself then no longer holds. */
  handOver(holder: HeldElsewhere): Map<string, Map<string, unknown>>;
  /** Since a change could not be written: memory is ahead of the disk, so everything must be read again. */
  readonly failed: boolean;
  bytes(): number;
  close(): Promise<void>;
}

/** A log below this is not worth making smaller, in bytes. */
const SMALL_LOG = 1024 * 1024;
/** A log is made smaller when it has grown to so many times what it was after that was done last. */
const GROWTH = 4;

/** @throws DamagedStoreError */
export async function openAccountStore(file: string, key: Buffer): Promise<AccountStore> {
  const tables = new Map<string, Map<string, unknown>>();
  const log = await openSealedLog(file, key, (record) => {
    for (const change of deserialize(record) as Change[]) apply(tables, change);
  });
  return storeOn(log, tables);
}

function apply(tables: Map<string, Map<string, unknown>>, [name, key, value]: Change): void {
  const rows = tables.get(name) ?? new Map<string, unknown>();
  tables.set(name, rows);
  if (value === undefined) rows.delete(key);
  else rows.set(key, value);
}

function storeOn(log: SealedLog, tables: Map<string, Map<string, unknown>>): AccountStore {
  const holders: HeldElsewhere[] = [];
  let pending: Change[] = [];
  let failure: Error | null = null;
  let compactAt = Math.max(SMALL_LOG, log.size() * GROWTH);
  /** One record at a time: a crash can tear off the last one alone. */
  let writing: Promise<void> = Promise.resolve();
  let next: Promise<void> | null = null;

  const rowsOf = (name: string) => {
    const rows = tables.get(name) ?? new Map<string, unknown>();
    tables.set(name, rows);
    return rows;
  };

  const everything = (): Change[] => [
    ...[...tables].flatMap(([name, rows]) => [...rows].map(([key, value]): Change => [name, key, value])),
    ...holders.flatMap((holder) => [...holder.rows()]),
  ];

  async function flush(): Promise<void> {
    const changes = pending;
    pending = [];
    next = null;
    if (failure !== null) throw failure;
    if (changes.length === 0) return;
    try {
      if (log.size() < compactAt || !holders.every((holder) => holder.isSteady())) {
        await log.append(serialize(changes));
        return;
      }
      await log.replace(serialize(everything()));
      compactAt = Math.max(SMALL_LOG, log.size() * GROWTH);
    } catch (error) {
      failure = error as Error;
      throw error;
    }
  }

  /** Whoever comes while a record is written shares the next one. */
  function commit(): Promise<void> {
    next ??= writing.then(flush, flush);
    writing = next;
    return next;
  }

  return {
    table<Value>(name: string): Table<Value> {
      const rows = rowsOf(name) as Map<string, Value>;
      return {
        get: (key) => rows.get(key),
        set(key, value) {
          rows.set(key, value);
          pending.push([name, key, value]);
        },
        delete(key) {
          if (rows.delete(key)) pending.push([name, key, undefined]);
        },
        values: () => rows.values(),
        get size() {
          return rows.size;
        },
      };
    },
    commit,
    write(changes) {
      pending.push(...changes);
      return commit();
    },
    handOver(holder) {
      holders.push(holder);
      const theirs = [...tables].filter(([name]) => name.startsWith(holder.prefix));
      for (const [name] of theirs) tables.delete(name);
      return new Map(theirs);
    },
    get failed() {
      return failure !== null;
    },
    bytes: () => log.size(),
    async close() {
      await commit().catch(() => undefined);
      await log.close();
    },
  };
}
