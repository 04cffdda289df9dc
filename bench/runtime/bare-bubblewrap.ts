// The bare engine: bubblewrap starts the same small server behind walls of the same kind, and nothing of ours is there.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { WORKLOAD } from '../platform/hello-app.ts';

export interface BareBubblewrap {
  /** Milliseconds from the start of bwrap to the first byte of the server's answer. */
  coldStart(): Promise<number>;
  close(): void;
}

export async function openBareBubblewrap(): Promise<BareBubblewrap> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-bwrap-'));
  chmodSync(folder, 0o777);
  writeFileSync(join(folder, 'main.mjs'), WORKLOAD);
  const socket = join(folder, 'hello.sock');
  // Its way in is a Unix socket, since a network namespace of its own has no other.
  const walls = ['--unshare-all', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'];
  const mounts = ['--ro-bind', '/', '/', '--bind', folder, folder, '--dev', '/dev', '--proc', '/proc'];
  return {
    async coldStart() {
      rmSync(socket, { force: true });
      const begun = performance.now();
      const command = [process.execPath, join(folder, 'main.mjs')];
      const child = spawn('bwrap', [...walls, ...mounts, '--', ...command], {
        env: { SOCKET: socket },
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      const exited = once(child, 'exit');
      while (!(await answers(socket))) {
        if (child.exitCode !== null) throw new Error(`bwrap ended with ${child.exitCode}`);
        await delay(1);
      }
      const milliseconds = performance.now() - begun;
      child.kill('SIGKILL');
      await exited;
      return milliseconds;
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function answers(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = http.get({ socketPath, path: '/', agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('error', () => resolve(false));
  });
}
