// What a start shows on a terminal: what took long, what was set, and the address last of all. The log is in its file.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { lacksProgram } from '../support/lacks-program.ts';
import { emptyPlace, type PlatformPlace, platformPlace } from '../support/platform-process.ts';
import { rawRequest } from '../support/raw-http.ts';
import { until } from '../support/wait.ts';

const LAUNCHER = fileURLToPath(new URL('../../platform', import.meta.url));
const COLUMNS = 90;
const START_LIMIT_MS = 90_000;
const skip = lacksProgram('script');

interface Screen {
  /** Lines as they stand on the terminal, without colours. */
  lines(): string[];
  readonly supervisor: number;
  stop(): Promise<void>;
}

/** `./platform start …` on a terminal of its own. Resolves when it shows where to go. */
async function startOnTerminal(t: TestContext, place: PlatformPlace, args: string): Promise<Screen> {
  const command = `stty cols ${COLUMNS}; exec '${LAUNCHER}' start ${args}`;
  const child = spawn('script', ['-q', '-e', '-c', command, '/dev/null'], {
    env: { ...place.environment, TERM: 'xterm-256color' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  let shown = '';
  child.stdout.on('data', (chunk: Buffer) => {
    shown += chunk.toString();
  });
  t.after(() => child.kill('SIGKILL'));
  const running = path.join(place.dataDirectory, 'run', 'instance.json');
  await until(
    'the platform runs',
    () => {
      if (child.exitCode !== null) throw new Error(`it ended: ${shown}`);
      return shown.includes(place.origin) && shown.includes('Ctrl-C') && existsSync(running);
    },
    START_LIMIT_MS,
  ).catch((error: unknown) => {
    throw new Error(`${error}:\n${shown}`);
  });
  const { pid } = JSON.parse(readFileSync(running, 'utf8')) as { pid: number };
  return {
    lines: () => screenOf(shown),
    supervisor: pid,
    async stop() {
      process.kill(pid, 'SIGTERM');
      await exited;
    },
  };
}

/** A carriage return begins the line again; of colours and erasing nothing is left. */
function screenOf(shown: string): string[] {
  return shown
    .split('\r\n')
    .map((line) => line.split('\r').at(-1) ?? '')
    .map((line) => line.replace(/\u001b\[[0-9;]*[A-Za-z]/g, '').trimEnd());
}

/** Programs that desktops open addresses with; each leaves a mark when it is run. */
function browserTraps(place: PlatformPlace): { readonly PATH: string; readonly BROWSER: string; wasOpened(): boolean } {
  const folder = path.join(place.dataDirectory, '..', `${path.basename(place.dataDirectory)}-bin`);
  const mark = path.join(folder, 'opened');
  mkdirSync(folder);
  for (const name of ['xdg-open', 'open', 'sensible-browser', 'x-www-browser', 'gio']) {
    writeFileSync(path.join(folder, name), `#!/bin/sh\necho "$0" >> '${mark}'\n`);
    chmodSync(path.join(folder, name), 0o755);
  }
  return {
    PATH: `${folder}:${process.env.PATH}`,
    BROWSER: path.join(folder, 'xdg-open'),
    wasOpened: () => existsSync(mark),
  };
}

test('the first start says what takes long, what was set, and last and framed the address', { skip }, async (t) => {
  const place = await emptyPlace();
  t.after(() => place.remove());
  const traps = browserTraps(place);
  t.after(() => rmSync(path.dirname(traps.BROWSER), { recursive: true }));
  const { PATH, BROWSER } = traps;
  const environment = { ...place.environment, PATH, BROWSER, DISPLAY: ':0', PLATFORM_RP_NAME: 'Platform' };
  const screen = await startOnTerminal(t, { ...place, environment }, '');
  const lines = screen.lines();
  assert.ok(lines.includes('Setting up PostgreSQL for the first time.'), lines.join('\n'));
  assert.ok(
    lines.some((line) => /^✓ PostgreSQL \d+\.\d s$/.test(line)),
    lines.join('\n'),
  );
  const settings = lines.filter((line) => line.includes('PLATFORM_'));
  assert.deepEqual(
    settings.map((line) => line.replace('Settings', '').trim()),
    [
      `PLATFORM_OS_ORIGIN=${place.origin}`,
      `PLATFORM_INGRESS_LISTEN=127.0.0.1:${place.ingressPort}`,
      `PLATFORM_NODE_ORIGIN=http://node.platform.localhost:${place.nodePort}`,
      `PLATFORM_DATA_DIR=${place.dataDirectory}`,
    ],
    'PLATFORM_RP_NAME is set to its default',
  );
  const last = lines.filter((line) => line !== '').slice(-5);
  assert.deepEqual(
    last.map((line) => line.trim().replaceAll(/[━ ]+/g, ' ')),
    ['┏ ┓', '┃ ┃', `┃ Open ${place.origin} ┃`, '┃ ┃', '┗ ┛'],
  );
  assert.equal(new Set(last.map((line) => line.length)).size, 1, 'the frame is straight');

  const log = path.join(place.dataDirectory, 'platform.log');
  assert.ok(
    lines.some((line) => line.trim() === `Log          ${log}`),
    lines.join('\n'),
  );
  process.kill(screen.supervisor, 'SIGHUP');
  await until('core logs that it read its files again', () => readFileSync(log, 'utf8').includes('read the files'));
  const health = { port: place.port, path: '/v1/health', headers: { host: new URL(place.origin).host } };
  assert.equal((await rawRequest(health)).status, 200);
  assert.deepEqual(
    screen.lines().filter((line) => line.includes('{')),
    [],
    'no raw line of the log on the terminal',
  );
  assert.equal(traps.wasOpened(), false, 'no browser opens by itself');
  await screen.stop();
});

test('--verbose shows every setting and the log', { skip }, async (t) => {
  const place = await platformPlace();
  t.after(() => place.remove());
  const screen = await startOnTerminal(t, place, '--verbose');
  assert.ok(screen.lines().some((line) => line.includes('PLATFORM_RP_NAME=Platform  (default)')));
  process.kill(screen.supervisor, 'SIGHUP');
  await until('the log is on the terminal', () => screen.lines().some((line) => /^\{.*read the files/.test(line)));
  assert.equal(existsSync(path.join(place.dataDirectory, 'platform.log')), false);
  await screen.stop();
});
