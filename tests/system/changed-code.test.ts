// What runs is the release that was started, not the checkout as it is now: a `git pull` under a running platform, and a part
// that ends after it.
import assert from 'node:assert/strict';
import { appendFileSync, cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  killPart,
  type LongCommand,
  type PlatformPlace,
  partOf,
  platformPlace,
  RUNNING,
  startCommand,
} from '../support/platform-process.ts';
import { until } from '../support/wait.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

let place: PlatformPlace;
let checkout: string;
let platform: LongCommand | undefined;

before(async () => {
  place = await platformPlace();
  checkout = mkdtempSync(path.join(tmpdir(), 'platform-checkout-'));
  for (const part of ['packages', 'apps', 'package.json', 'package-lock.json'])
    cpSync(path.join(ROOT, part), path.join(checkout, part), {
      recursive: true,
      preserveTimestamps: true,
      filter: (source) => path.basename(source) !== 'node_modules',
    });
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(checkout, 'node_modules'));
});
after(async () => {
  await platform?.stop();
  await place.remove();
  rmSync(checkout, { recursive: true, force: true });
});

const program = () => path.join(checkout, 'packages', 'cli', 'src', 'main.ts');
const start = () => startCommand(['start'], place.environment, RUNNING, program());

async function doctorSays(what: RegExp): Promise<void> {
  const said = await startCommand(['doctor'], place.environment, ' release ', program());
  await until(`${what} of doctor`, () => what.test(said.output()));
}

test('a part that ends is started again as long as the code is that of the start', async () => {
  platform = await start();
  assert.match(platform.output(), /^ {2}Release {6}\d+\.\d+\.\d+/m);
  writeFileSync(path.join(checkout, 'notes.md'), 'Nothing of the program.');
  await killPart(place, 'Core');
  await doctorSays(/release +\d+\.\d+\.\d+.* runs$/m);
});

test('after a change no part is started beside those of the former code: the platform stops and says why', async () => {
  assert.ok(platform !== undefined);
  const running = platform;
  appendFileSync(path.join(checkout, 'packages', 'core', 'src', 'app.ts'), '\n// Of the next release.\n');
  await doctorSays(/runs, and the code here is another.*\n.*Start the platform again at a quiet time/);
  const { pid } = await partOf(place, 'Core');
  process.kill(pid ?? 0, 'SIGKILL');
  const why = /Core is not started again: the code of the platform was changed while it ran.*start it again\./;
  await until('the platform to say why it stops', () => why.test(running.output()));
  assert.equal(await running.stop(), 1);
  assert.doesNotMatch(running.output(), /could not be restarted/);
});

test('the next start starts all of it', async () => {
  platform = await start();
  await killPart(place, 'Node');
});
