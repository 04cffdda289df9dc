// How the command line speaks: colour only for people, progress for whatever takes longer than a blink. Everything that it
// prints goes through here, so that no escape sequence of a node, a workload, a package or an account reaches the
// terminal (tests/structure/terminal.test.ts).
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { escapeInJson, plainText } from '@platform/contract/plain-text';

/** Stands for an escape until the text is printed. Random, so that no text from elsewhere can hold it. */
const OURS = `<${randomUUID()}>`;

const COLOURS = { red: 31, green: 32, yellow: 33, cyan: 36, bold: 1, dim: 2 } as const;
export type Colour = keyof typeof COLOURS;

function coloured(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY === true && process.env.NO_COLOR === undefined;
}

/** Text that is coloured once one of the functions below prints it. */
export function paint(colour: Colour, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return coloured(stream) ? `${OURS}${COLOURS[colour]}m${text}${OURS}0m` : text;
}

/** What the terminal gets: our own colours, and of everything else what cannot steer it or reverse its words. */
export function printable(text: string): string {
  const [first = '', ...rest] = text.split(OURS);
  return plainText(first) + rest.map((piece) => `\u001b[${plainText(piece)}`).join('');
}

/** Takes the step that is shown moving off the terminal, so that a line has its place. */
let makeRoom: () => void = () => undefined;

export function say(line = ''): void {
  makeRoom();
  process.stdout.write(`${printable(line)}\n`);
}

/** One line, or several, on standard error. */
export function complain(line: string): void {
  makeRoom();
  process.stderr.write(`${printable(line)}\n`);
}

/** A value for programs: nothing of it is changed, and what could steer a terminal is written as `\uXXXX`. */
export function sayJson(value: unknown, indent?: number): void {
  process.stdout.write(`${escapeInJson(JSON.stringify(value, null, indent))}\n`);
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

interface StepOptions {
  /** Milliseconds from which a step that succeeded is worth a line. Default: each is. */
  readonly worthSaying?: number;
}

/**
 * Runs one step of something longer: shows it moving on a terminal, and says afterwards how long it took.
 *
 * @param work may show how far it is
 */
export async function step<Result>(
  name: string,
  work: (show: (howFar: string) => void) => Promise<Result>,
  { worthSaying = 0 }: StepOptions = {},
): Promise<Result> {
  const started = performance.now();
  let label = printable(name);
  const live = process.stdout.isTTY === true;
  let frame = 0;
  const timer = live
    ? setInterval(() => {
        process.stdout.write(`\r\u001b[2K${printable(paint('cyan', FRAMES[frame % FRAMES.length] ?? ''))} ${label} `);
        frame += 1;
      }, 100)
    : undefined;
  if (live) makeRoom = () => process.stdout.write('\r\u001b[2K');
  try {
    const result = await work((howFar) => {
      label = printable(`${name} ${paint('dim', howFar)}`);
    });
    const milliseconds = performance.now() - started;
    if (milliseconds >= worthSaying)
      say(`${paint('green', '✓')} ${name} ${paint('dim', `${(milliseconds / 1000).toFixed(1)} s`)}`);
    else makeRoom();
    return result;
  } catch (error) {
    say(`${paint('red', '✗')} ${name}`);
    throw error;
  } finally {
    clearInterval(timer);
    makeRoom = () => undefined;
  }
}

/** Columns of the terminal; infinite where the output goes to a file or a program, unless COLUMNS says otherwise. */
export function terminalWidth(): number {
  const columns = Number(process.env.COLUMNS);
  return process.stdout.columns ?? (columns > 0 ? columns : Number.POSITIVE_INFINITY);
}

/** Ends this process quietly when the reader of its output closes the pipe, as in `platform logs … | head`. */
export function endWithReader(): void {
  whenReaderLeft(() => process.exit(0));
}

/** Goes on when the reader of its output closes the pipe: a platform does not end with the `tee` that writes its log. */
export function outliveReader(): void {
  whenReaderLeft(() => undefined);
}

function whenReaderLeft(act: () => void): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // EIO: its terminal was closed.
      if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
      act();
    });
  }
}

/** The next line that the person types; empty when there is none, or the signal aborts. */
export async function readAnswer(signal?: AbortSignal): Promise<string> {
  return (await readLine(signal)) ?? '';
}

/** The same; `null` when there is none. */
export function readLine(signal?: AbortSignal): Promise<string | null> {
  const lines = createInterface({ input: process.stdin });
  return new Promise((resolve) => {
    const end = () => lines.close();
    lines.once('line', (line) => {
      resolve(line);
      end();
    });
    lines.once('close', () => {
      signal?.removeEventListener('abort', end);
      process.stdin.pause();
      resolve(null);
    });
    signal?.addEventListener('abort', end);
    if (signal?.aborted === true) end();
  });
}
