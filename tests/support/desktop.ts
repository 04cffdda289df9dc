// The desktop that a browser shows its notifications on, as a test machine has none: a message bus of its own (D-Bus) with
// python3-dbusmock's notification service on it. The browser talks to it as to any desktop, and a press comes back from it.
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

const SERVICE = 'org.freedesktop.Notifications';
const DESTINATION = ['-d', SERVICE, '-o', `/${SERVICE.replaceAll('.', '/')}`];
/** Debian's own Python, which Debian's modules are for. */
const PYTHON = '/usr/bin/python3';
const WAIT_MILLISECONDS = 60_000;

export interface Shown {
  /** What the desktop calls it by. */
  readonly id: number;
  readonly title: string;
  readonly body: string;
}

export interface Desktop {
  /** `DBUS_SESSION_BUS_ADDRESS` of the browser. */
  readonly busAddress: string;
  /** Everything that was ever shown, as often as it was. */
  shown(): readonly Shown[];
  /** Resolves when one with this title is shown. @throws Error after a minute */
  until(title: string): Promise<Shown>;
  press(shown: Shown): Promise<void>;
  close(): Promise<void>;
}

/** Why there can be none here; `null` when there can. */
export function desktopLacking(): string | null {
  try {
    for (const [program, ...args] of [
      ['dbus-daemon', '--version'],
      ['gdbus', 'help'],
      [PYTHON, '-c', 'import dbusmock'],
    ] as const)
      execFileSync(program, args, { stdio: 'ignore' });
    return null;
  } catch {
    return 'presses on notifications need Debian’s dbus-daemon, libglib2.0-bin and python3-dbusmock';
  }
}

export async function startDesktop(): Promise<Desktop> {
  const folder = await mkdtemp(path.join(tmpdir(), 'platform-desktop-'));
  const busAddress = `unix:path=${path.join(folder, 'bus')}`;
  const env = { PATH: process.env.PATH, HOME: folder, DBUS_SESSION_BUS_ADDRESS: busAddress };
  const bus = spawn('dbus-daemon', ['--session', '--nofork', '--print-address', `--address=${busAddress}`], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(bus.stdout, 'data');
  const abilities = JSON.stringify({ capabilities: 'body actions persistence' });
  const service = spawn(
    PYTHON,
    ['-m', 'dbusmock', '--session', '--template', 'notification_daemon', '--parameters', abilities],
    { env, stdio: ['ignore', 'pipe', 'ignore'] },
  );
  let log = '';
  service.stdout.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const gdbus = (...args: string[]) => promisify(execFile)('gdbus', args, { env });
  await gdbus('wait', '--session', '--timeout', '60', SERVICE);

  /** Each call has a line `1.0 Notify "Chromium" 0 "" "title" "body" […] {…} -1`; ids are counted from 1. */
  function shown(): Shown[] {
    const calls = log.matchAll(/^[\d.]+ Notify "[^"]*" (\d+) "[^"]*" "([^"]*)" "([^"]*)"/gm);
    let last = 0;
    return [...calls].map(([, replaced, title = '', body = '']) => {
      if (replaced === '0') last += 1;
      return { id: replaced === '0' ? last : Number(replaced), title, body };
    });
  }

  return {
    busAddress,
    shown,
    async until(title) {
      const limit = AbortSignal.timeout(WAIT_MILLISECONDS);
      for (;;) {
        const found = shown().find((one) => one.title === title);
        if (found !== undefined) return found;
        if (limit.aborted) throw new Error(`“${title}” was not shown:\n${log}`);
        await wait(20);
      }
    },
    async press({ id }) {
      const args = [SERVICE, 'ActionInvoked', 'us', `[<uint32 ${id}>, <'default'>]`];
      await gdbus('call', '--session', ...DESTINATION, '-m', 'org.freedesktop.DBus.Mock.EmitSignal', ...args);
    },
    async close() {
      await Promise.all([service, bus].map(end));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}
