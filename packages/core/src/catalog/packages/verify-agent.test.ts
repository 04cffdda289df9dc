// Receiving a package whose backend is an agent: its instructions are there, and no longer than a model call can bear.
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { limits, RefusalError } from '@platform/contract';
import { makeClusterFolder } from '../../../../../tests/support/postgres.ts';
import { archiveOf, type EntryDescription } from '../../../test-support/vector-archives.ts';
import { verifyPackage } from './verify-package.ts';

const MANIFEST = {
  ...{ schemaVersion: 9, id: 'helper', version: '1.0.0', name: 'Helper', summary: 'An agent' },
  workload: { runtime: 'agent', agent: { instructions: 'rules/all.md' } },
  permissions: [{ id: 'intelligence.use', resources: ['*'] }],
};
const manifest: EntryDescription = { name: 'manifest.json', type: 'file', content: JSON.stringify(MANIFEST) };
const instructions = (bytes: number, name = 'workload/rules/all.md'): EntryDescription => ({
  ...{ name, type: 'file', bytes: Buffer.alloc(bytes, 'a') },
});

const most = limits.agentInstructions.value;
const cases: readonly (readonly [string, readonly EntryDescription[], RegExp | 'taken'])[] = [
  ['of the largest size', [manifest, instructions(most)], 'taken'],
  ['that come before the manifest', [instructions(10), manifest], 'taken'],
  ['that are missing', [manifest], /^names "rules\/all\.md", which is not in workload\/ of the package$/],
  ['that are elsewhere', [manifest, instructions(10, 'workload/all.md')], /which is not in workload\//],
  ['that are too long', [manifest, instructions(most + 1)], /^names "rules\/all\.md", which has more than 64 KiB$/],
  ['that are too long, before the manifest', [instructions(most + 1), manifest], /which has more than 64 KiB$/],
];
for (const [what, entries, expected] of cases)
  test(`instructions ${what} are ${expected === 'taken' ? 'taken' : 'refused'}`, async (t) => {
    const folder = makeClusterFolder('agents-');
    t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
    const scratch = { blob: path.join(folder, 'package.tgz'), unpacked: path.join(folder, 'unpacked') };
    const verifying = verifyPackage(Readable.from([archiveOf({ entries })]), scratch, { system: false });
    if (expected === 'taken') return void (await verifying);
    await assert.rejects(verifying, (error) => {
      assert.ok(error instanceof RefusalError);
      const [fault] = error.refusal.errors ?? [];
      assert.equal(fault?.path, 'workload.agent.instructions');
      assert.match(fault.message, expected);
      return true;
    });
  });
