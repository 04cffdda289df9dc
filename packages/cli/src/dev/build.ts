// A project that is built, such as one with TypeScript: `platform dev` runs its own `npm run watch` beside it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import * as path from 'node:path';
import { createInterface } from 'node:readline';
import { complain, paint, say } from '../terminal/terminal.ts';

/** Whether package.json has this script. */
export async function hasScript(folder: string, name: string): Promise<boolean> {
  try {
    const { scripts } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8'));
    return typeof scripts?.[name] === 'string';
  } catch {
    return false;
  }
}

/** Starts `npm run watch` and shows what it says. @returns a function that ends it, with all that it started */
export function startWatchScript(folder: string): () => Promise<void> {
  // A group of its own: npm and what it starts end together.
  const child = spawn('npm', ['run', '--silent', 'watch'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let ended = false;
  let asked = false;
  const over = new Promise<void>((resolve) => {
    child.on('error', (error) => {
      complain(`platform: npm run watch could not be started: ${error.message}`);
      ended = true;
      resolve();
    });
    child.on('exit', (code, signal) => {
      ended = true;
      if (!asked) complain(`platform: npm run watch ended (${signal ?? `code ${code}`}). Changes are no longer built.`);
      resolve();
    });
  });
  for (const stream of [child.stdout, child.stderr])
    if (stream !== null)
      createInterface({ input: stream }).on('line', (line) => line.trim() !== '' && say(paint('dim', `  ${line}`)));
  return async () => {
    asked = true;
    if (!ended) endGroup(child);
    await over;
    if (child.stdout !== null && !child.stdout.closed) await once(child.stdout, 'close').catch(() => undefined);
  };
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGTERM');
  } catch {
    // It has just ended by itself.
  }
}
