// Lets a test run its own code inside the workload `workloads/subject.mjs` and get back what came of it.
import type childProcess from 'node:child_process';
import type dgram from 'node:dgram';
import type dns from 'node:dns/promises';
import type fs from 'node:fs';
import type http from 'node:http';
import type net from 'node:net';
import type os from 'node:os';
import type workerThreads from 'node:worker_threads';

/** Modules of Node as the probe finds them inside, and a few things that most probes need. */
export interface Kit {
  readonly fs: typeof fs;
  readonly net: typeof net;
  readonly http: typeof http;
  readonly dns: typeof dns;
  readonly dgram: typeof dgram;
  readonly os: typeof os;
  readonly childProcess: typeof childProcess;
  readonly workerThreads: typeof workerThreads;
  /** `done`, or the code of the error that `action` throws. */
  code(action: () => unknown): string;
  /** `connected`, the code of the error, or `no answer` after some milliseconds. */
  connect(target: net.NetConnectOpts, limit?: number): Promise<string>;
  /** Answer of the own Gateway to a GET; the token is its own unless another is given. */
  gateway(path: string, token?: string): Promise<{ status: number; text: string }>;
  /** Sends bytes (base64) and gives what comes back until the other side is silent (250 ms) or gone. */
  exchange(host: string, port: number, bytes: string, silence?: number): Promise<string>;
  /** Runs a program given as base64; its output as base64. */
  execute(program: string): string;
  /** The answer to requests for `/raw` from now on, byte for byte. */
  answerRaw(bytes: string): void;
}

/** A function that uses nothing but its arguments: only its source text goes inside. */
export type Probe<Arguments extends readonly unknown[], Value> = (
  kit: Kit,
  ...args: Arguments
) => Value | Promise<Value>;

export interface ProbeAnswer {
  readonly value?: unknown;
  readonly error?: string;
}
