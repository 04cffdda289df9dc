// The supervisor's side: a part of the platform as a process, from its program to its end.
import { type ChildProcess, type SendHandle, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { dyingWithUs, StartError } from '@platform/core/start';
import type { BoundSocket } from '@platform/http';
import type { LogFile } from '../terminal/log-file.ts';
import type { FromPart, ToPart } from './channel.ts';
import type { Running } from './kept-part.ts';
import type { ProgramPart } from './part.ts';

export interface RunningProcess extends Running {
  readonly report: unknown;
  /** Empty when it does not answer within two seconds. */
  metrics(): Promise<string>;
  /** Reads its files again. */
  reload(): void;
}

/** Bound by the supervisor, which keeps it; the part listens on it. */
export interface KeptSocket {
  readonly place: { readonly host: string; readonly port: number };
  readonly socket: BoundSocket;
}

const METRICS_MILLISECONDS = 2_000;
const PING_MILLISECONDS = 5_000;
/** Pings in a row without an answer until a part counts as hung: half a minute. */
const MOST_UNANSWERED = 6;

/**
 * For glibc (mallopt(3)), which otherwise keeps freed memory for the process: in an arena for each thread, and up to
 * 64 MiB of each once large pieces were freed. An operator may set them otherwise.
 */
export const RETURNING_MEMORY = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: String(128 * 1024),
  MALLOC_TRIM_THRESHOLD_: String(128 * 1024),
};

/** Variables of the platform, which reach a part over its channel, and of libpq, which may hold a password. */
const WITHHELD = /^(PLATFORM_|PG)/;

/** What a part is started with, again and again. */
export class PartProgram {
  readonly #name: string;
  readonly #file: string;
  readonly #withheld: RegExp;
  readonly #pingEvery: number;
  readonly #log: LogFile | undefined;
  #ahead: ChildProcess | undefined;

  /** @param log gets what the part would write on a terminal. Default: the terminal */
  constructor(
    {
      name,
      program,
      withheld = WITHHELD,
      pingEvery = PING_MILLISECONDS,
    }: Pick<ProgramPart, 'name' | 'program' | 'withheld' | 'pingEvery'>,
    log?: LogFile | undefined,
  ) {
    this.#name = name;
    this.#file = fileURLToPath(program);
    this.#withheld = withheld;
    this.#pingEvery = pingEvery;
    this.#log = log;
  }

  /** Begins to load the program for the next start, which takes most of its time. */
  load(): void {
    this.#ahead ??= this.#spawn();
  }

  /** Ends a process that was loaded and is not needed. */
  unload(): void {
    this.#ahead?.kill('SIGKILL');
    this.#ahead = undefined;
  }

  /** Resolves when the part serves. @throws StartError when it does not come to that */
  async start(order: unknown, sockets: readonly KeptSocket[] = []): Promise<RunningProcess> {
    const child = this.#ahead ?? this.#spawn();
    this.#ahead = undefined;
    const ended = howItEnds(this.#name, child);
    let unanswered = 0;
    const isHung = () => unanswered >= MOST_UNANSWERED;
    const patience = Math.round((MOST_UNANSWERED * this.#pingEvery) / 1_000);
    const exited = ended.then((how) => (isHung() ? `${this.#name} did not answer for ${patience} s. ${how}` : how));
    const pending = new Map<number, (text: string) => void>();
    const { promise: ready, resolve, reject } = Promise.withResolvers<unknown>();
    child.on('message', (message: FromPart<unknown>) => {
      if ('ready' in message) resolve(message.ready);
      else if ('refused' in message) reject(new StartError(message.refused.code, message.refused.message));
      else if ('alive' in message) unanswered = 0;
      else pending.get(message.ask)?.(message.metrics);
    });
    void exited.then((how) => {
      reject(new StartError('part_ended', `${how} It had not finished starting.`));
      for (const resolve of pending.values()) resolve('');
    });
    for (const { place, socket } of sockets) send(child, { socket: place }, socket);
    send(child, { order });
    const report = await ready;
    // Counted, not timed: a machine that slept, or a supervisor that was stopped for a while, has missed no answer.
    const watching = setInterval(() => {
      if (isHung()) child.kill('SIGKILL');
      unanswered += 1;
      send(child, { ping: true });
    }, this.#pingEvery).unref();
    void ended.then(() => clearInterval(watching));
    let requests = 0;
    return {
      pid: child.pid ?? 0,
      exited,
      report,
      metrics() {
        requests += 1;
        const ask = requests;
        const { promise, resolve } = Promise.withResolvers<string>();
        const limit = setTimeout(() => resolve(''), METRICS_MILLISECONDS);
        pending.set(ask, resolve);
        send(child, { ask });
        return promise.finally(() => {
          clearTimeout(limit);
          pending.delete(ask);
        });
      },
      reload: () => send(child, { reload: true }),
      async stop() {
        send(child, { stop: true });
        await exited;
      },
    };
  }

  /** In a session of its own, where Ctrl-C of a terminal does not reach it. */
  #spawn(): ChildProcess {
    const inherited = Object.entries(process.env).filter(([name]) => !this.#withheld.test(name));
    const log = this.#log;
    const child = spawn(...dyingWithUs('KILL', process.execPath, [...process.execArgv, this.#file]), {
      stdio: ['ignore', outputTo(log, process.stdout), outputTo(log, process.stderr), 'ipc'],
      serialization: 'advanced',
      env: { ...RETURNING_MEMORY, ...Object.fromEntries(inherited) },
      detached: true,
    });
    for (const stream of [child.stdout, child.stderr]) if (stream !== null) log?.follow(stream);
    return child;
  }
}

/** What was sent to a file or another program goes there in any case. */
function outputTo(log: LogFile | undefined, stream: NodeJS.WriteStream): 'pipe' | 'inherit' {
  return log !== undefined && stream.isTTY ? 'pipe' : 'inherit';
}

/** A channel that is broken already says so by the end of the process, which is being waited for. */
function send(child: ChildProcess, message: ToPart<unknown>, socket?: BoundSocket): void {
  // Its types know sockets that are wrapped, and not those that cluster sends.
  if (child.connected) child.send(message as object, socket as SendHandle, () => undefined);
}

function howItEnds(name: string, child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    const settle = (code: number | null, signal: NodeJS.Signals | null) =>
      resolve(signal === null ? `${name} ended with code ${code}.` : `${name} was killed by ${signal}.`);
    if (child.exitCode !== null || child.signalCode !== null) settle(child.exitCode, child.signalCode);
    child.once('exit', settle);
    child.once('error', (error) => resolve(`${name} could not be started: ${error.message}.`));
  });
}
