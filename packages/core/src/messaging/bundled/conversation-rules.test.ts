// The rules of a conversation that only a long life would meet over HTTP.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits, RefusalError } from '@platform/contract';
import { markRead, open, type Party, type Seat, send } from './conversation-rules.ts';

const now = new Date('2026-11-21T10:00:00.000Z');
const moment = { now, proven: now };
const party = (accountKey: string, more: Partial<Party> = {}): Party => ({
  accountKey,
  changes: 0,
  sentBytes: 0,
  requests: 0,
  ...more,
});
const codeOf = (work: () => unknown): string => {
  try {
    work();
    return 'done';
  } catch (error) {
    if (error instanceof RefusalError) return error.refusal.code;
    throw error;
  }
};

function opened(more: Partial<Party> = {}): readonly [Seat, Seat] {
  const own: Seat = { party: party('a', more), side: undefined };
  const other: Seat = { party: party('b'), side: undefined };
  open(own, other, moment);
  open(other, own, moment);
  return [own, other];
}

test('an account has a bounded store of sent messages', () => {
  const [own, other] = opened({ sentBytes: limits.messageStore.value - 10 });
  assert.equal(
    codeOf(() => send(own, other, 11, moment)),
    'disk_quota',
  );
  assert.equal(
    codeOf(() => send(own, other, 10, moment)),
    'done',
  );
  assert.equal(own.party.sentBytes, limits.messageStore.value);
});

test('reading goes forward alone', () => {
  const [own, other] = opened();
  for (const _ of [1, 2]) send(other, own, 1, moment);
  const { changes } = own.party;
  markRead(own, changes, 0);
  markRead(own, changes - 1, 1);
  assert.deepEqual([own.side?.unread, own.side?.readChange], [0, changes]);
});
