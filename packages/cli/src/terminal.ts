// How the command line speaks: colour only for people, progress for whatever takes longer than a blink.

const COLOURS = { red: 31, green: 32, yellow: 33, cyan: 36, bold: 1, dim: 2 } as const;
export type Colour = keyof typeof COLOURS;

function coloured(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY === true && process.env.NO_COLOR === undefined;
}

export function paint(colour: Colour, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return coloured(stream) ? `\u001b[${COLOURS[colour]}m${text}\u001b[0m` : text;
}

export function say(line = ''): void {
  process.stdout.write(`${line}\n`);
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** Runs one step of something longer: shows it moving on a terminal, and says afterwards how long it took. */
export async function step<Result>(label: string, work: () => Promise<Result>): Promise<Result> {
  const started = performance.now();
  const live = process.stdout.isTTY === true;
  let frame = 0;
  const timer = live
    ? setInterval(() => {
        process.stdout.write(`\r${paint('cyan', FRAMES[frame % FRAMES.length] ?? '')} ${label} `);
        frame += 1;
      }, 100)
    : undefined;
  const erase = () => (live ? '\r\u001b[2K' : '');
  try {
    const result = await work();
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    process.stdout.write(`${erase()}${paint('green', '✓')} ${label} ${paint('dim', `${seconds} s`)}\n`);
    return result;
  } catch (error) {
    process.stdout.write(`${erase()}${paint('red', '✗')} ${label}\n`);
    throw error;
  } finally {
    clearInterval(timer);
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
      if (error.code !== 'EPIPE') throw error;
      act();
    });
  }
}
