// Promise: the memory of a module ends at the limit that core wrote into it, whatever the module asks for.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withMemoryEnd } from './bounded-module.ts';

/** A module that declares a memory as `memory` says, and exports it as `m`. */
function moduleWith(memory: readonly number[], before: readonly number[] = []): Buffer {
  const section = (id: number, body: readonly number[]) => [id, body.length, ...body];
  const exported = section(7, [1, 1, 'm'.charCodeAt(0), 2, 0]);
  return Buffer.from([0, ...Buffer.from('asm'), 1, 0, 0, 0, ...before, ...section(5, memory), ...exported]);
}

async function memoryOf(module: Buffer): Promise<WebAssembly.Memory> {
  const { instance } = await WebAssembly.instantiate(new Uint8Array(module));
  return instance.exports.m as WebAssembly.Memory;
}

/** A section of somebody's own, of 300 bytes. */
const OWN = [0, 0xac, 0x02, ...Buffer.alloc(300)];

for (const [what, before] of [
  ['that begins with it', []],
  ['with other sections before it', OWN],
] as const)
  test(`the memory of a module ${what} grows to its end, and no further`, async () => {
    const endless = moduleWith([1, 0, 1], before);
    assert.equal((await memoryOf(endless)).grow(300), 1, 'without end it grows');
    const memory = await memoryOf(withMemoryEnd(endless, 300));
    assert.equal(memory.grow(299), 1);
    assert.throws(() => memory.grow(1), RangeError);
  });

test('a module with another memory is none whose end can be written', () => {
  const others = { 'an end of its own': [1, 1, 1, 2], 'two of them': [2, 0, 1, 0, 1], none: [0] };
  for (const [what, memory] of Object.entries(others))
    assert.throws(() => withMemoryEnd(moduleWith(memory), 300), /another memory/, what);
  assert.throws(() => withMemoryEnd(moduleWith([1, 0, 1]).subarray(0, 8), 300), /no memory/);
});
