// A network that begins many handshakes waits behind itself.
import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { openHandshakeTurns } from './handshake-turns.ts';

test('handshakes without end of one client wait for their turn, which others do not have to', async (t) => {
  const waiting: (() => void)[] = [];
  const begun: string[] = [];
  const begin = openHandshakeTurns(60_000, { isBusy: false, take: (step) => void waiting.push(step) });
  const from = (remoteAddress: string) => {
    const socket = new Socket();
    Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress });
    t.after(() => socket.destroy());
    begin(socket, () => void begun.push(remoteAddress));
    return socket;
  };
  const hasty = Array.from({ length: 400 }, () => from('192.0.2.1'));
  assert.ok(waiting.length > 100, `${waiting.length} wait`);
  from('192.0.2.2');
  assert.equal(begun.at(-1), '192.0.2.2');
  const before = begun.length;
  hasty.at(-1)?.destroy();
  for (const step of waiting.splice(0)) step();
  assert.equal(begun.length, before + 400 - (before - 1) - 1, 'all but the one that left');
});
