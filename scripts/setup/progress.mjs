// The progress output of the set-up: the current step, its duration, and its outcome.
// Everything goes to standard error; where that is no terminal, only a line at each start and end.

import * as fs from 'node:fs';
import * as tty from 'node:tty';

/** A reason to stop that the person can cure; its message is one line. */
export class SetupError extends Error {
  constructor(message) {
    super(message.replace(/\s*\n\s*/g, ' '));
    this.name = 'SetupError';
  }
}

/** Writes one line. */
export function say(line) {
  write(`${line}\n`);
}

/**
 * Runs `work`, showing `doing` with the seconds passed, and `done` at the end.
 *
 * @template T
 * @param {string} doing such as `Installing dependencies`
 * @param {string} done such as `Dependencies installed`
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function step(doing, done, work) {
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1000);
  const live = tty.isatty(2);
  const show = () => write(`\r\x1b[K${doing} … ${seconds()} s`);
  if (live) show();
  else say(`${doing} …`);
  const timer = live ? setInterval(show, 1000) : undefined;
  try {
    const result = await work();
    say(`${live ? '\r\x1b[K' : ''}${done} (${seconds()} s).`);
    return result;
  } catch (error) {
    if (live) write('\r\x1b[K');
    throw error;
  } finally {
    clearInterval(timer);
  }
}

/**
 * Not `process.stderr`: touching it may switch the terminal or pipe to a mode that the program we
 * hand over to would inherit.
 */
function write(text) {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(fs.writeSync(2, rest));
    } catch (error) {
      // A full pipe: its reader is slow. A closed one drops the text.
      if (error.code !== 'EAGAIN') return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}
