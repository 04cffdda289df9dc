// What the doctor thinks of a machine's memory.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryFindings } from './memory-findings.ts';

const MiB = 1024 * 1024;

for (const [total, free, nodeMemoryMiB, verdict, found] of [
  [16_384, 8_192, null, 'good', '8 GiB of 16 GiB available'],
  [2_048, 600, 1_500, 'good', '600 MiB of 2 GiB available'],
  [2_048, 200, null, 'warning', '200 MiB of 2 GiB available'],
  [768, 700, null, 'warning', '700 MiB of 768 MiB available'],
  [256, 200, null, 'bad', '200 MiB of 256 MiB available'],
  [1_024, 900, 2_048, 'bad', 'PLATFORM_NODE_MEMORY_MIB promises apps 2 GiB, and there are 1 GiB'],
] as const) {
  test(`${free} of ${total} MiB, ${nodeMemoryMiB ?? 'no'} promised: ${verdict}`, async () => {
    const [finding] = await memoryFindings({ nodeMemoryMiB }, { total: total * MiB, free: free * MiB });
    assert.deepEqual([finding?.verdict, finding?.found], [verdict, found]);
    assert.equal(finding?.cure === undefined, verdict === 'good');
  });
}

test('this machine has memory', async () => {
  const [finding] = await memoryFindings({ nodeMemoryMiB: null });
  assert.match(finding?.found ?? '', /^[\d.]+ [MG]iB of [\d.]+ [MG]iB available$/);
});
