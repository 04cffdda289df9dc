// Runs a program of the set-up without showing what it says, keeping that for the case of failure.

import { spawn } from 'node:child_process';
import { SetupError } from './progress.mjs';

const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * @param {string} program
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions} options
 * @returns {Promise<{ code: number | null, signal: string | null, said: string, missing: boolean }>}
 *   `missing` when there is no such program.
 * @throws {SetupError} after a signal, which is forwarded to the program; its end is awaited.
 */
export function runQuietly(program, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    let said = '';
    let stopSignal;
    const pass = (signal) => {
      stopSignal = signal;
      child.kill(signal);
    };
    for (const signal of endings) process.on(signal, pass);
    const settle = (outcome) => {
      for (const signal of endings) process.off(signal, pass);
      if (stopSignal === undefined) resolve(outcome);
      else reject(new SetupError(`Set-up ended by ${stopSignal}.`));
    };
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8');
      // Only the end of the output is kept: it has the reason of a failure, and builds print very much before it.
      stream.on('data', (text) => {
        said = (said + text).slice(-20_000);
      });
    }
    child.once('error', (error) => {
      if (error.code === 'ENOENT') settle({ code: null, signal: null, said, missing: true });
      else reject(error);
    });
    child.once('close', (code, signal) => settle({ code, signal, said, missing: false }));
  });
}
