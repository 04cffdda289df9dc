// The browser that programs open, played by the test: it writes down where it is sent, and the test goes there.
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import { until } from './wait.ts';

export interface FakeBrowser {
  /** Of the programs that open it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Where it was sent; waits for that. */
  opened(): Promise<URL>;
}

/** @param folder of its own, and the home of the programs */
export async function fakeBrowser(folder: string): Promise<FakeBrowser> {
  const programs = path.join(folder, 'bin');
  const sent = path.join(folder, 'sent');
  await mkdir(programs, { recursive: true });
  // Some ask for `$BROWSER`, others call one of these.
  const script = `#!/bin/sh\nprintf %s "$1" > '${sent}.new' && mv '${sent}.new' '${sent}'\n`;
  for (const name of ['browser', 'xdg-open', 'x-www-browser', 'www-browser']) {
    await writeFile(path.join(programs, name), script);
    await chmod(path.join(programs, name), 0o755);
  }
  const read = () => readFile(sent, 'utf8').catch(() => '');
  return {
    environment: {
      HOME: folder,
      BROWSER: path.join(programs, 'browser'),
      PATH: `${programs}:${path.dirname(process.execPath)}:/usr/bin:/bin`,
    },
    async opened() {
      await until('the browser was opened', async () => (await read()) !== '');
      const url = new URL(await read());
      await rm(sent);
      return url;
    },
  };
}
