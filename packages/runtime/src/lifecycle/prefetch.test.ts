// Packages are prefetched and removed when unused, also while assignments change faster than a download completes.
import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../../../../tests/support/wait.ts';
import { makeAssignment } from '../../test-support/core-double.ts';
import { startTestNode } from '../../test-support/node.ts';

const SERVER = `
  const http = process.getBuiltinModule('node:http');
  http.createServer((req, res) => res.end('here')).listen(Number(process.env.PORT));
`;

test('a list whose packages come late does not remove what a later list has brought', async (t) => {
  const node = await startTestNode();
  t.after(() => node.close());
  const [slow, quick] = [
    await node.core.publish({ 'index.mjs': `${SERVER}// slow` }),
    await node.core.publish({ 'index.mjs': SERVER }),
  ];
  const release = node.core.holdPackage(slow);
  const entry = (hash: string) => join(node.place.folder, 'workloads', hash, 'workload', 'index.mjs');
  const [first, second] = [makeAssignment(slow), makeAssignment(quick, { desired: 'always' })];
  node.core.assign([first]);
  const known = async () =>
    (await node.core.control('GET', `/installations/${first.installationId}/status`)).status === 200;
  await until('the first list to be carried out', known);
  node.core.assign([first, second]);
  await until('the second app to run', () => node.core.statuses.get(second.installationId)?.state === 'running');
  const files = statSync(entry(quick)).ino;
  release();
  await until('the slow package to be there', () => existsSync(entry(slow)));
  node.core.assign([second]);
  // The lists are carried out in order: what the first two removed is gone by now, too.
  await until('the slow package to be gone', () => !existsSync(entry(slow)));
  assert.equal(statSync(entry(quick)).ino, files, 'a running app lost its files, even if others came in their place');
});
