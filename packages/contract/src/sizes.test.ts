import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sizeText } from './sizes.ts';

for (const [bytes, words] of [
  [0, '0 bytes'],
  [1, '1 byte'],
  [1_023, '1023 bytes'],
  [1_024, '1 KiB'],
  [1_600, '1.6 KiB'],
  [52_428_800, '50 MiB'],
  [1_048_575, '1 MiB'],
  [1_400_000_000, '1.3 GiB'],
  [1_610_612_736, '1.5 GiB'],
  [1_048_576_000, '1000 MiB'],
] as const) {
  test(`${bytes} is ${words}`, () => assert.equal(sizeText(bytes), words));
}

for (const [bytes, above, below] of [
  [4_096, '4 KiB', '4 KiB'],
  [4_097, '4.1 KiB', '4 KiB'],
  [10_241, '11 KiB', '10 KiB'],
  [134_217_727, '128 MiB', '127 MiB'],
  [1_073_741_823, '1 GiB', '1023 MiB'],
  [1_023, '1023 bytes', '1023 bytes'],
] as const) {
  test(`${bytes} is ${above} rounded up, and ${below} rounded down`, () => {
    assert.deepEqual([sizeText(bytes, Math.ceil), sizeText(bytes, Math.floor)], [above, below]);
  });
}
