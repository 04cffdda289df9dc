// Promises of every long poll: no change is slept through, none costs a query while nothing happens to its account, and
// it ends with whatever ends its caller.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { after, before, test } from 'node:test';
import { RefusalError, refuse } from '@platform/contract';
import { type TestDatabase, testDatabase } from '../../../../tests/support/postgres.ts';
import { type SessionCaller, sessionCaller } from '../accounts/sessions/session-caller.ts';
import type { CoreContext } from '../context.ts';
import { notify } from '../database/notify.ts';
import { type OpenDatabase, openDatabase } from '../database/open-database.ts';
import { Signals } from '../database/signals.ts';
import { Callers } from '../http/callers/callers.ts';
import { awaitChange } from './await-change.ts';

const HOUR = 3_600_000;

let database: TestDatabase;
let open: OpenDatabase;
let signals: Signals;
let callers: Callers;

before(async () => {
  database = await testDatabase();
  open = openDatabase({ url: database.url, onError: () => undefined });
  signals = new Signals(database.url, () => undefined);
  await signals.start();
  callers = new Callers(signals);
  // Nothing is looked up with it here.
  callers.follow([sessionCaller({} as CoreContext)]);
});
after(async () => {
  await signals.stop();
  await open.close();
  await database.drop();
});

const now = new Date();
const caller: SessionCaller = {
  kind: 'session',
  sessionId: 'ses-1',
  accountKey: 'anna',
  accountName: 'anna',
  accountCreatedAt: now,
  deletesAt: null,
  createdAt: now,
  expiresAt: new Date(now.getTime() + HOUR),
};

interface Wait {
  readonly result: Promise<number>;
  /** How often it read. */
  reads(): number;
  /** What it reads from now on. News is everything but 0. */
  set(value: number): void;
  /** From now on its caller is refused. */
  ban(): void;
  readonly left: AbortController;
  readonly stopping: AbortController;
}

interface Given {
  readonly longestMilliseconds?: number;
  /** Called within each read, before its value is settled. */
  readonly reading?: (reads: number) => void | Promise<void>;
  readonly stopped?: boolean;
}

function begin({ longestMilliseconds = HOUR, reading, stopped = false }: Given = {}): Wait {
  const left = new AbortController();
  const stopping = new AbortController();
  if (stopped) stopping.abort();
  let value = 0;
  let reads = 0;
  let banned = false;
  const result = awaitChange(
    { signals, callers, stopping: stopping.signal },
    {
      call: {
        caller,
        left: left.signal,
        async stillAllowed() {
          if (banned) throw refuse('unauthenticated');
          return caller;
        },
      },
      wakeOn: [{ signal: 'home-changed', about: { member: 'accountKey', value: 'anna' } }],
      longestMilliseconds,
      async read() {
        reads += 1;
        const found = value;
        await reading?.(reads);
        return found;
      },
      isNews: (found) => found !== 0,
    },
  );
  result.catch(() => undefined);
  return {
    result,
    reads: () => reads,
    set: (next) => {
      value = next;
    },
    ban: () => {
      banned = true;
    },
    left,
    stopping,
  };
}

const changed = (accountKey: string) => notify(open.database, 'home-changed', { accountKey });
const ended = (sessionId: string | null) => notify(open.database, 'session-ended', { accountKey: 'anna', sessionId });
const arrived = () => signals.settled(open.pool);

test('it reads once, then only after a signal of its own account, and ends with the news', async () => {
  const wait = begin();
  await changed('bert');
  await ended('ses-2');
  await arrived();
  assert.equal(wait.reads(), 1);
  await changed('anna');
  await arrived();
  while (wait.reads() < 2) await arrived();
  wait.set(7);
  await changed('anna');
  assert.equal(await wait.result, 7);
  assert.equal(wait.reads(), 3);
});

test('what is news already is answered at once', async () => {
  const wait = begin();
  wait.set(3);
  assert.equal(await wait.result, 3);
  assert.equal(wait.reads(), 1);
});

test('a change while it reads is not slept through', async () => {
  const wait: Wait = begin({
    async reading(reads) {
      if (reads > 1) return;
      wait.set(5);
      await changed('anna');
      await arrived();
    },
  });
  assert.equal(await wait.result, 5);
});

test('it ends after its time, when core stops and when the client disconnects, without reading again', async () => {
  const timed = begin({ longestMilliseconds: 20 });
  const stopped = begin();
  const left = begin();
  await arrived();
  stopped.stopping.abort();
  left.left.abort();
  assert.deepEqual(await Promise.all([timed.result, stopped.result, left.result]), [0, 0, 0]);
  assert.deepEqual([timed.reads(), stopped.reads(), left.reads()], [1, 1, 1]);
  assert.equal(getEventListeners(left.left.signal, 'abort').length, 0);
  const late = begin({ stopped: true });
  assert.equal(await late.result, 0);
});

const isRefusal = (error: unknown) => error instanceof RefusalError && error.refusal.code === 'unauthenticated';

test('it ends with the session of its caller, which gets no answer', async () => {
  const wait = begin();
  await arrived();
  wait.ban();
  wait.set(9);
  await ended('ses-1');
  await assert.rejects(wait.result, isRefusal);
  assert.equal(wait.reads(), 1);
});

test('what was read is not answered to a caller that ended meanwhile', async () => {
  const wait: Wait = begin({
    async reading() {
      wait.ban();
      await ended(null);
      await arrived();
    },
  });
  wait.set(9);
  await assert.rejects(wait.result, isRefusal);
});

test('a caller that is changed, not ended, gets what there is for it now', async () => {
  const wait = begin();
  await arrived();
  await ended('ses-1');
  assert.equal(await wait.result, 0);
  assert.equal(wait.reads(), 2);
});

test('after signals were lost it reads again, and refuses whoever ended meanwhile', async () => {
  const [kept, lost] = [begin(), begin()];
  await arrived();
  lost.ban();
  kept.set(4);
  await open.pool.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'platform-signals' AND datname = current_database()",
  );
  assert.equal(await kept.result, 4);
  await assert.rejects(lost.result, isRefusal);
});
