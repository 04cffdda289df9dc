// The log of a machine that joined. While a terminal shows the machine it goes to platform.log in the data folder, as that
// of `platform start` does: the terminal is for what the operator reads.
import { Writable } from 'node:stream';
import { createLog, type LogLevel } from '@platform/core/log';
import { LogFile } from '../terminal/log-file.ts';
import { complain } from '../terminal/terminal.ts';

export class MemberLog {
  readonly log: ReturnType<typeof createLog>;
  /** For lines that elsewhere go to standard output, while that is the terminal too. */
  readonly output: Writable | undefined;
  readonly #file: LogFile | undefined;

  constructor(level: LogLevel) {
    const file = process.stderr.isTTY === true ? new LogFile() : undefined;
    this.#file = file;
    const stream = file === undefined ? undefined : streamTo(file);
    this.log = stream === undefined ? createLog(level) : createLog(level, stream);
    this.output = process.stdout.isTTY === true ? stream : undefined;
  }

  /** @returns the file, if it goes to one */
  open(dataDirectory: string): string | undefined {
    return this.#file?.open(dataDirectory);
  }

  /** Says what was logged before there was a file: the words of a start that failed. */
  close(): void {
    const unread = this.#file?.close() ?? Buffer.alloc(0);
    if (unread.length > 0) complain(unread.toString().trimEnd());
  }
}

function streamTo(file: LogFile): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      file.write(chunk);
      done();
    },
  });
}
