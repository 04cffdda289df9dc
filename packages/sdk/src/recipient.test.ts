// What the page passes to the shell to be sealed, and gets back from it.
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { Bridge } from './bridge.ts';
import { recipientOver } from './recipient.ts';

/** A shell whose seal is a letter before the plaintext. */
const calls: { readonly method: string; readonly params: unknown }[] = [];
const bridge = {
  async call(method: string, params: { readonly plaintext?: string; readonly sealed?: string }) {
    calls.push({ method, params });
    if (method === 'recipient.seal') return { sealed: `S${params.plaintext}` };
    if (method === 'recipient.open') return { plaintext: params.sealed?.slice(1) };
    return { state: 'locked' };
  },
} as unknown as Bridge;
const recipient = recipientOver(bridge);

test('bytes of every length and value come back as they were, as base64url without padding', async () => {
  const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  for (const bytes of [all, ...[0, 1, 2, 3, 4, 32_768].map((length) => new Uint8Array(randomBytes(length)))]) {
    const sealed = await recipient.seal(bytes);
    assert.equal(sealed, `S${Buffer.from(bytes).toString('base64url')}`);
    assert.deepEqual(await recipient.open(sealed), bytes);
  }
});

test('text is sealed as UTF-8', async () => {
  const opened = await recipient.open(await recipient.seal('Żółw, 乌龟 🐢'));
  assert.equal(new TextDecoder().decode(opened), 'Żółw, 乌龟 🐢');
});

test('a part of a larger buffer is sealed alone', async () => {
  const part = new Uint8Array([1, 2, 3, 4]).subarray(1, 3);
  assert.deepEqual(await recipient.open(await recipient.seal(part)), new Uint8Array([2, 3]));
});

test('the state is that of the shell', async () => {
  assert.equal(await recipient.status(), 'locked');
  assert.deepEqual(calls.at(-1), { method: 'recipient.status', params: undefined });
});
