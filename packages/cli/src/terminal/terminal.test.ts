// What becomes of a command when the reader of its output closes the pipe.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';

/** Runs a program that writes to a pipe that is closed, and would end with code 7 after 50 writes. */
async function writeToNobody(before: string): Promise<unknown> {
  const program = `import { ${before} } from ${JSON.stringify(new URL('./terminal.ts', import.meta.url).href)};
    ${before}();
    let writes = 0;
    setInterval(() => { process.stdout.write('line\\n'); if (++writes === 50) process.exit(7); }, 5);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['ignore', 'pipe', 2] });
  child.stdout?.destroy();
  const [code] = await once(child, 'exit');
  return code;
}

test('a command ends quietly with the reader of its output', async () => {
  assert.equal(await writeToNobody('endWithReader'), 0);
});

test('a running platform and its parts outlive that reader', async () => {
  assert.equal(await writeToNobody('outliveReader'), 7);
});
