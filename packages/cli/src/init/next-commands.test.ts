import { strict as assert } from 'node:assert';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { type TestContext, test } from 'node:test';
import { nextCommands } from './next-commands.ts';

/** Puts a Node of this version first on the PATH. */
async function withNode(context: TestContext, version: string): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'node-of-the-machine-'));
  await writeFile(path.join(folder, 'node'), `#!/bin/sh\necho ${version}\n`, { mode: 0o755 });
  const before = process.env.PATH;
  process.env.PATH = `${folder}${path.delimiter}${before}`;
  context.after(async () => {
    process.env.PATH = before;
    await rm(folder, { recursive: true, force: true });
  });
}

for (const [version, isEnough] of [
  ['v18.20.4', false],
  ['v20.18.3', false],
  ['v20.19.0', true],
  ['v21.7.3', false],
  ['v22.11.0', false],
  ['v22.12.0', true],
  ['v26.0.0', true],
] as const)
  test(`with Node ${version}, the build runs on ${isEnough ? 'it' : "the platform's own Node"}`, async (context) => {
    await withNode(context, version);
    const publish = nextCommands('plan', 'typescript').at(-1)?.command ?? '';
    const own = `PATH=${path.dirname(process.execPath)}:$PATH npm run build && `;
    assert.ok(publish.startsWith(isEnough ? 'npm run build && ' : own), publish);
    assert.doesNotMatch(nextCommands('plan', 'javascript').at(-1)?.command ?? '', /npm run/);
  });
