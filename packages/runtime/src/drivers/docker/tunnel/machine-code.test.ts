// The bytes that this writes run: on this machine's processor, and on the others by QEMU's emulation where it is installed.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, type TestContext, test } from 'node:test';
import { findProgram } from '../../../find-program.ts';
import { enterProgram } from './enter-program.ts';
import { CANNOT_BECOME, executable, type Program } from './machine-code.ts';

const EMULATORS: Readonly<Record<string, string>> = { x64: 'qemu-x86_64', arm64: 'qemu-aarch64' };
const SHELL = ['/bin/sh', '-c', 'echo "$0 $KEPT"', 'became'] as const;

/** Waits for a byte from a socket, as the program in front of a workload does. */
const waiting = (socketPath: string): Program => {
  const address = Buffer.from(`\x01\0${socketPath}\0`);
  return {
    steps: [
      { call: 'socket', args: [1, 1, 0], keep: true },
      { call: 'connect', args: ['kept', { data: 'address' }, address.length] },
      { call: 'read', args: ['kept', 'scratch', 1], expect: 1 },
      { call: 'close', args: ['kept'] },
    ],
    data: () => ({ first: Buffer.from('odd'), address }),
  };
};

for (const processor of Object.keys(EMULATORS)) {
  const name = EMULATORS[processor] ?? '';
  const emulator = processor === process.arch ? [] : [findProgram(name) ?? findProgram(`${name}-static`)];
  const skip = emulator.includes(undefined) ? `${name} is missing (Debian: apt-get install qemu-user-static)` : false;
  describe(`machine code for ${processor}`, { skip }, () => {
    /** Its exit code and output; `answer` is what the socket says, or undefined where nothing listens. */
    async function run(t: TestContext, answer: string | undefined, becomes: readonly string[] = SHELL) {
      const folder = mkdtempSync(join(tmpdir(), 'pm-'));
      t.after(() => rmSync(folder, { recursive: true }));
      const [file, socketPath] = [join(folder, 'program'), join(folder, 'socket')];
      writeFileSync(file, executable(waiting(socketPath), processor) ?? '', { mode: 0o755 });
      if (answer !== undefined) {
        const server = net.createServer((socket) => socket.end(answer)).listen(socketPath);
        await once(server, 'listening');
        t.after(() => server.close());
      }
      const [program = '', ...args] = [...emulator.map(String), file, ...becomes];
      const child = spawn(program, args, { env: { KEPT: 'the environment' }, stdio: ['ignore', 'pipe', 'inherit'] });
      const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
      return { code, output };
    }

    test('takes its steps and becomes what its arguments name', async (t) => {
      assert.deepEqual(await run(t, '1'), { code: 0, output: 'became the environment\n' });
    });

    test('ends with the number of the step that fails', async (t) => {
      assert.deepEqual(await run(t, undefined), { code: 2, output: '' });
      assert.deepEqual(await run(t, ''), { code: 3, output: '' });
      assert.deepEqual(await run(t, '1', ['/nowhere']), { code: CANNOT_BECOME, output: '' });
    });
  });
}

test('there is a program for the processors that a filter is made for, and for no other', () => {
  const options = { socketPath: '/run/x.sock', lastCapability: 40 };
  for (const processor of ['x64', 'arm64']) assert.ok(enterProgram({ ...options, processor }) !== undefined);
  assert.equal(enterProgram({ ...options, processor: 's390x' }), undefined);
});
