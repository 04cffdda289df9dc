// The program of agents for the Runtime, which puts it into their sandboxes (runtime/src/agents.ts).
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export interface AgentWorker {
  /** Another one for other code: a program is kept from one start of the platform to the next. */
  identity(): string;
  /** Writes the program, one file. */
  makeProgram(file: string): Promise<void>;
}

const run = promisify(execFile);
const own = fileURLToPath(new URL('..', import.meta.url));
/** Everything that goes into the program: its sources, those of the contract, and the versions of all packages. */
const SOURCES = [own, fileURLToPath(new URL('../../../contract/src', import.meta.url))];
const PACKAGES = new URL('../../../../package-lock.json', import.meta.url);

let known: string | undefined;

export const agentWorker: AgentWorker = {
  identity() {
    known ??= hashOfSources();
    return known;
  },
  async makeProgram(file) {
    // In a process of its own: a bundler would stay in the memory of this one.
    await run(process.execPath, [fileURLToPath(new URL('bundle.ts', import.meta.url)), file]);
  },
};

function hashOfSources(): string {
  const hash = createHash('sha256').update(readFileSync(PACKAGES));
  for (const folder of SOURCES) {
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    for (const name of names.filter((one) => one.endsWith('.ts')).sort())
      hash.update(`\n${name}\n`).update(readFileSync(join(folder, name)));
  }
  return hash.digest('hex').slice(0, 32);
}
