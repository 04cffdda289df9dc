// Firecracker as the monitor, configured over its API socket.
import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import type { Machine } from '../places.ts';
import { bootThrough } from './firecracker-api.ts';
import { type Monitor, watch } from './monitor.ts';

const SOCKET = '/tmp/firecracker.sock';

export function firecracker(machine: Machine): Monitor {
  const child = spawn(machine.program, ['--api-sock', SOCKET, '--id', 'workload', '--level', 'Warning'], {
    // The guest's console is Firecracker's standard output.
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {},
  });
  const monitor = watch(child);
  let said = '';
  bootThrough(SOCKET, machine, { ended: monitor.ended, pause: delay }).catch((error: unknown) => {
    said = error instanceof Error ? error.message : String(error);
    monitor.kill();
  });
  return { ...monitor, console: () => `${monitor.console()} ${said}`.trim() };
}
