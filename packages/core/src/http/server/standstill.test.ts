// A request whose transaction and another one wait for each other: PostgreSQL ends one of them, and core's begins anew.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type pg from 'pg';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';
import type { RawAnswer } from '../../../../../tests/support/raw-http.ts';
import { until } from '../../../../../tests/support/wait.ts';
import { friends, type Writer, writerOf } from '../../../test-support/messaging.ts';

let world: Constellation;
let ada: Writer;
let ben: Writer;
before(async () => {
  world = await startConstellation();
  [ada, ben] = [await writerOf(world, 'ada'), await writerOf(world, 'ben')];
});
after(() => world.close());

/**
 * The request takes what `second` wants, and waits for what `first` has. PostgreSQL ends the one that waited first, unless that looked
 * for a standstill before the other one waited at all: on a busy machine it is done again.
 */
async function crossed(
  send: () => Promise<RawAnswer>,
  first: (other: pg.PoolClient) => Promise<unknown>,
  second: (other: pg.PoolClient) => Promise<unknown>,
): Promise<RawAnswer> {
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    const answer = await cross(send, first, second);
    if (answer !== null) return answer;
  }
  throw new Error('PostgreSQL ended the other one each time');
}

/** @returns `null` when the other one was ended */
async function cross(
  send: () => Promise<RawAnswer>,
  first: (other: pg.PoolClient) => Promise<unknown>,
  second: (other: pg.PoolClient) => Promise<unknown>,
): Promise<RawAnswer | null> {
  const { pool } = world.core.context;
  const other = await pool.connect();
  try {
    await other.query('BEGIN');
    await first(other);
    const sending = send();
    await until('core to wait', async () => {
      const { rowCount } = await pool.query(
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      return rowCount === 1;
    });
    const isEnded = await second(other).then(
      () => false,
      (error: { readonly code?: string }) => {
        if (error.code !== '40P01') throw error;
        return true;
      },
    );
    await other.query('ROLLBACK');
    const answer = await sending;
    return isEnded ? null : answer;
  } finally {
    other.release();
  }
}

test('a message is sent all the same, once', async () => {
  const [id] = await friends(ada, ben);
  const lock = (order: 'ASC' | 'DESC') => (other: pg.PoolClient) =>
    other.query(
      `SELECT FROM messaging_accounts WHERE account_key =
         (SELECT account_key FROM messaging_accounts ORDER BY account_key ${order} LIMIT 1) FOR UPDATE`,
    );
  const sent: string[] = [];
  const send = () => {
    sent.push(`in the way ${sent.length}`);
    return ada.send(id, sent.at(-1) ?? '');
  };
  const answer = await crossed(send, lock('DESC'), lock('ASC'));
  assert.equal(answer.status, 201, answer.text);
  assert.deepEqual((await ada.bodies(id)).sort(), sent);
});

test('so is a secret', async () => {
  const put = () => ada.account.fetch('/v1/account/secrets/token', { method: 'PUT', body: { value: 'x' } });
  assert.equal((await put()).status, 204);
  const answer = await crossed(
    put,
    (other) => other.query('SELECT FROM account_secrets FOR UPDATE'),
    (other) => other.query('SELECT pg_advisory_xact_lock(4232, hashtext(account_key)) FROM account_secrets'),
  );
  assert.equal(answer.status, 204, answer.text);
});
