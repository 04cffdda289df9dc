// Every permission that a review offers opens something: some part of the platform asks for it.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { permissions } from '@platform/contract';

const ROOT = path.join(import.meta.dirname, '../../packages');
/** Where grants are checked: core, the parts of a node, the Ingress, what they share, and the bridge of the shell. */
const CHECKING = ['contract', 'core', 'gateway', 'http', 'ingress', 'runtime', 'shell'];
/** These only say what permissions and bridge methods there are, or put them into words. */
const NAMING = [
  'contract/src/permissions.ts',
  'contract/src/security-rating.ts',
  'contract/src/bridge.ts',
  'shell/src/design/permission-words.ts',
];

test('what a review offers opens something', () => {
  const text = CHECKING.flatMap((name) =>
    readdirSync(path.join(ROOT, name, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file))
      .map((file) => path.join(name, 'src', file)),
  )
    .filter((file) => !NAMING.includes(file))
    .map((file) => readFileSync(path.join(ROOT, file), 'utf8'))
    .join('\n');
  assert.deepEqual(
    Object.keys(permissions).filter((id) => !text.includes(`'${id}'`)),
    [],
  );
});
