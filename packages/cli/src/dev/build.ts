// A project that is built, such as one with TypeScript: `platform dev` runs its own `npm run watch` beside it.
import { spawn } from 'node:child_process';
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

/** The folder of the Node that runs this. */
export function ownNode(): string {
  return path.dirname(process.execPath);
}

/**
 * Ends the whole group as soon as its standard input ends, and that is when the process at the other end of the pipe is gone,
 * however it went. What does not end by itself is killed after a second.
 */
const WITH_ITS_PARENT = `
exec 3<&0 </dev/null
(trap '' TERM INT HUP; read -r _ <&3; kill -TERM -$$; sleep 1; kill -KILL -$$) >/dev/null 2>&1 &
exec npm run --silent watch 3<&-`;

export interface WatchScript {
  /** Ends it with all that it started. */
  end(): Promise<void>;
}

/** Starts `npm run watch` and shows what it says. It ends with this process, even if that is killed. */
export function startWatchScript(folder: string): WatchScript {
  // A group of its own: npm and what it starts end together. On the platform's own Node: that of the machine may be too old.
  const child = spawn('sh', ['-c', WITH_ITS_PARENT], {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
    env: { ...process.env, PATH: [ownNode(), process.env.PATH].filter(Boolean).join(path.delimiter) },
  });
  child.stdin.on('error', () => undefined);
  let asked = false;
  const over = new Promise<void>((resolve) => {
    child.on('error', (error) => {
      complain(`platform: npm run watch could not be started: ${error.message}`);
      resolve();
    });
    child.on('exit', (code, signal) => {
      if (!asked) complain(`platform: npm run watch ended (${signal ?? `code ${code}`}). Changes are no longer built.`);
      child.stdin.end();
      resolve();
    });
  });
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => line.trim() !== '' && say(paint('dim', `  ${line}`)));
  return {
    async end() {
      asked = true;
      child.stdin.end();
      await over;
      if (!child.stdout.closed) await once(child.stdout, 'close').catch(() => undefined);
    },
  };
}
