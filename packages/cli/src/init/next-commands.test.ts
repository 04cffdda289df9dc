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
  test(`with Node ${version}, Vite is installed and runs on ${isEnough ? 'it' : "the platform's own Node"}`, async (context) => {
    await withNode(context, version);
    const npm = isEnough ? 'npm' : `PATH=${path.dirname(process.execPath)}:$PATH npm`;
    const [first, , last] = nextCommands('plan', 'typescript');
    assert.equal(first?.command, `cd plan && ${npm} install`);
    assert.ok(last?.command.startsWith(`${npm} run build && `), last?.command);
    for (const { command } of nextCommands('plan', 'javascript')) assert.doesNotMatch(command, /npm/);
  });
