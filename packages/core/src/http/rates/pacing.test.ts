// Whose answers are delayed for whose requests.
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { Duplex } from 'node:stream';
import { beforeEach, mock, test } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { unlimitedRates } from '../../../../../tests/support/rates.ts';
import { defaultRates } from '../../config/rates.ts';
import { Pacing } from './pacing.ts';

const direct = { trustedProxies: [] };
const from = (ip: string) => ({ ip }) as FastifyRequest;
const socketOf = (remoteAddress: string) => Object.assign(new Duplex(), { remoteAddress });
const fileFor = (remoteAddress: string) => ({ socket: socketOf(remoteAddress) }) as unknown as IncomingMessage;

// The time stands still, however long the machine is busy: what a caller has drawn is not forgotten meanwhile.
beforeEach(() => {
  mock.restoreAll();
  mock.method(performance, 'now', () => 0);
});

/** Whether it ended in the same turn, and so waited for no timer. */
async function endsAtOnce(work: Promise<void>): Promise<boolean> {
  let ended = false;
  void work.then(() => {
    ended = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  return ended;
}

test('a caller that is known has its own refusals, apart from those of its network', async () => {
  const pacing = new Pacing({ rates: defaultRates, config: direct });
  const known = from('192.0.2.1');
  pacing.countFor('account', known);
  pacing.refusalsOn(socketOf('192.0.2.1'), 500);
  assert.ok(await endsAtOnce(pacing.refusal(known, { code: 'not_found' })));
  assert.equal(pacing.refusalsOn(socketOf('192.0.2.2'), 1), 0);
  assert.equal(pacing.refusalsOn(socketOf('::ffff:192.0.2.1'), 1), 2_000);
});

test('what the caller did not cause is not held back', async () => {
  const pacing = new Pacing({ rates: defaultRates, config: direct });
  pacing.refusalsOn(socketOf('192.0.2.1'), 500);
  assert.ok(await endsAtOnce(pacing.refusal(from('192.0.2.1'), { code: 'unavailable' })));
});

test('files are sent at once up to 300 a second, to one network', () => {
  const pacing = new Pacing({ rates: defaultRates, config: direct });
  for (let file = 0; file < 300; file += 1) assert.equal(pacing.file(fileFor('192.0.2.1')), 0);
  for (let file = 0; file < 100; file += 1) pacing.file(fileFor('192.0.2.1'));
  assert.ok(pacing.file(fileFor('192.0.2.1')) > 100);
  assert.equal(pacing.file(fileFor('192.0.2.2')), 0);
});

test('behind proxies, where all clients have few addresses, connections say nothing', () => {
  const pacing = new Pacing({ rates: defaultRates, config: { trustedProxies: ['127.0.0.1'] } });
  assert.equal(pacing.refusalsOn(socketOf('127.0.0.1'), 500), 0);
  for (let file = 0; file < 1_000; file += 1) assert.equal(pacing.file(fileFor('127.0.0.1')), 0);
});

test('an operator who raises the rates raises these', () => {
  const pacing = new Pacing({ rates: unlimitedRates, config: direct });
  assert.equal(pacing.refusalsOn(socketOf('192.0.2.1'), 500), 0);
});
