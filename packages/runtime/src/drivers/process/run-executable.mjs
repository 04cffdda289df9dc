// Runs inside the sandbox in the place of a workload's script, where the workload is an executable: starts it, forwards
// the signal to end, and ends as it ends. Until then the bootstrap in this process bridges inbound connections to PORT.
// What it starts has no more of the platform than a script has: neither the channel to the Runtime nor the inbound socket.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** As shells report what they could not start, and what a signal has ended. */
const NOT_STARTED = 126;
const SIGNALLED = 128;

const [, , program, ...args] = process.argv;
// Before it starts: SIGTERM must not end this process, and with it a workload that runs and would have handled it.
process.on('SIGTERM', () => workload.kill('SIGTERM'));
const workload = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });
workload.once('error', ({ code }) => {
  const hint = code === 'EACCES' ? ' Its file system may forbid to run programs (noexec).' : '';
  console.error(`The executable of the package cannot be started here (${code}).${hint}`);
  process.exit(NOT_STARTED);
});
workload.once('exit', (code, signal) => {
  process.exit(signal === null ? code : SIGNALLED + constants.signals[signal]);
});
