// Types of the fake for the test that imports it; the fake itself runs as a program of its own too.
import type http from 'node:http';

export function createFake(options: { start(machine: unknown): void }): {
  readonly server: http.Server;
  readonly machine: unknown;
};
