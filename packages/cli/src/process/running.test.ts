// How a long-running command ends: all its parts in the reverse order, and the process even if one was forgotten.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { test } from 'node:test';
import { portTaken } from './running.ts';

/** A process of two parts in which `code` runs, and whose command then ends by itself. */
function run(code: string): Promise<{ code: number | null; said: string; complained: string }> {
  const module = new URL('./running.ts', import.meta.url).href;
  const program = `import net from 'node:net';
    import { runUntilStopped, Started } from ${JSON.stringify(module)};
    const started = new Started();
    started.add(() => console.log('first part stopped'));
    started.add(() => console.log('second part stopped'));
    ${code}
    process.exitCode = await runUntilStopped(started, async () => ({ why: 'done', code: 0 }));`;
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['--input-type=module', '--eval', program],
      { timeout: 60_000 },
      (_error, said, complained) => resolve({ code: child.exitCode, said, complained }),
    );
  });
}

const PARTS = /second part stopped\nfirst part stopped\n$/;

test('what was started is stopped in the reverse order, and the limit of a stop holds nothing up', async () => {
  const { code, said, complained } = await run('');
  assert.equal(complained, '');
  assert.match(said, PARTS);
  assert.equal(code, 0);
});

test('a part that cannot be stopped is named, and the others are stopped', async () => {
  const { code, said, complained } = await run(`started.add(() => Promise.reject(new Error('it is stuck')));`);
  assert.equal(complained, 'platform: while stopping: it is stuck\n');
  assert.match(said, PARTS);
  assert.equal(code, 0);
});

test('neither a part that does not stop nor one that was forgotten keeps the process running', async () => {
  const listens = "net.createServer().listen(0, '127.0.0.1')";
  const held = [`started.add(() => new Promise(() => ${listens}));`, `${listens};`];
  for (const { code, complained } of await Promise.all(held.map(run))) {
    assert.equal(complained, 'platform: stopping took too long; ending now.\n');
    assert.equal(code, 1);
  }
});

test('a port that is taken at the moment of listening is told in the words of the check', async (t) => {
  const holder = net.createServer().listen(0, '127.0.0.1');
  t.after(() => holder.close());
  await once(holder, 'listening');
  const { port } = holder.address() as net.AddressInfo;
  const [error] = await once(net.createServer().listen(port, '127.0.0.1'), 'error');
  assert.equal(
    portTaken(error)?.message,
    `Port ${port} on 127.0.0.1 is used by another program. Stop that program first.`,
  );
  assert.equal(portTaken(new Error('anything else')), undefined);
});
