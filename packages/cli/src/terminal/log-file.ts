// Where the parts' log goes while a terminal shows the platform: `platform.log` in the data folder, and what came
// before its last 16 MiB in `platform.log.1`. A full disk loses lines of the log, and never stops a part.

import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import * as path from 'node:path';
import type { Readable } from 'node:stream';
import { MiB } from '@platform/contract/sizes';

const LARGEST_BYTES = 16 * MiB;
/** Kept until the data folder is known. */
const MOST_BYTES_AHEAD = MiB;
const MOST_BYTES_OF_LINE = MiB;

export class LogFile {
  readonly #largest: number;
  #ahead: Buffer[] = [];
  #aheadBytes = 0;
  #file: string | undefined;
  #descriptor: number | undefined;
  #size = 0;

  /** @param largest bytes after which a new file begins */
  constructor(largest = LARGEST_BYTES) {
    this.#largest = largest;
  }

  /** @returns its path. @throws Error when it cannot be made */
  open(dataDirectory: string): string {
    this.#file = path.join(dataDirectory, 'platform.log');
    this.#begin(this.#file);
    for (const chunk of this.#takeAhead()) this.write(chunk);
    return this.#file;
  }

  write(chunk: Buffer): void {
    if (this.#file === undefined) {
      if (this.#aheadBytes + chunk.length > MOST_BYTES_AHEAD) return;
      this.#ahead.push(chunk);
      this.#aheadBytes += chunk.length;
      return;
    }
    try {
      if (this.#descriptor === undefined) this.#begin(this.#file);
      if (this.#size >= this.#largest) this.#rotate(this.#file);
      if (this.#descriptor !== undefined) this.#size += writeSync(this.#descriptor, chunk);
    } catch {
      // Most likely a full disk: the next line may fit again.
    }
  }

  /** Writes what a stream says in whole lines: those of several streams do not mix. */
  follow(stream: Readable): void {
    let begun = Buffer.alloc(0);
    const flush = (upTo: number) => {
      if (upTo > 0) this.write(begun.subarray(0, upTo));
      begun = begun.subarray(upTo);
    };
    stream.on('data', (chunk: Buffer) => {
      begun = Buffer.concat([begun, chunk]);
      flush(begun.length > MOST_BYTES_OF_LINE ? begun.length : begun.lastIndexOf('\n') + 1);
    });
    stream.once('end', () => flush(begun.length));
    // A process that the part left behind may hold the other end: that keeps nobody from stopping.
    if (stream instanceof Socket) stream.unref();
  }

  /** @returns what was written before there was a file: the words of a start that failed */
  close(): Buffer {
    this.#end();
    return Buffer.concat(this.#takeAhead());
  }

  #takeAhead(): Buffer[] {
    const ahead = this.#ahead;
    this.#ahead = [];
    return ahead;
  }

  #begin(file: string): void {
    this.#descriptor = openSync(file, 'a', 0o600);
    this.#size = fstatSync(this.#descriptor).size;
  }

  #rotate(file: string): void {
    this.#end();
    renameSync(file, `${file}.1`);
    this.#begin(file);
  }

  #end(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}
