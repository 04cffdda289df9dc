// A JSON file of the operator's that a variable names, and files of keys beside it.
import { readFileSync, statSync } from 'node:fs';
import * as path from 'node:path';
import { sizeText } from '@platform/contract';
import type * as z from 'zod';
import { reasonOf, StartError } from './start-error.ts';

/** A key of the platform's own, read at the moment of its use. */
export interface PlatformKey {
  /** To be overwritten after its use. */
  open(): Buffer;
}

const MOST_BYTES = 256 * 1024;

export class OperatorFile {
  readonly #variable: string;
  readonly #file: string;

  constructor(variable: string, file: string) {
    this.#variable = variable;
    this.#file = file;
  }

  /** @throws StartError that says what is wrong with it */
  read<Shape extends z.ZodType>(shape: Shape): z.output<Shape> {
    const parsed = shape.safeParse(this.#parse(this.#text(this.#file)));
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    throw this.wrong(`${issue?.path.join('.') || 'the whole'}: ${issue?.message ?? 'is not valid'}`);
  }

  /**
   * The key is worth money: nobody but the user of the platform may read its file.
   *
   * @param name from the folder of this file
   * @throws StartError
   */
  key(name: string): PlatformKey {
    const keyFile = path.resolve(path.dirname(this.#file), name);
    const key = this.#text(keyFile).trim();
    if ((statSync(keyFile).mode & 0o077) !== 0)
      throw this.wrong(`the key file ${keyFile} is open to other users; run chmod 600 on it`);
    if (!/^[\x21-\x7e]{1,1024}$/.test(key))
      throw this.wrong(`the key file ${keyFile} must hold one word of printable ASCII characters`);
    return { open: () => Buffer.from(key) };
  }

  wrong(what: string): StartError {
    return new StartError(
      'wrong_variable',
      `${this.#variable} names ${this.#file}, which is wrong: ${what}. docs/operators.md has an example.`,
    );
  }

  #text(name: string): string {
    try {
      const { size } = statSync(name);
      if (size > MOST_BYTES) throw this.wrong(`${name} is larger than ${sizeText(MOST_BYTES)}`);
      return readFileSync(name, 'utf8');
    } catch (error) {
      if (error instanceof StartError) throw error;
      throw this.wrong(`${name} cannot be read: ${reasonOf(error)}`);
    }
  }

  #parse(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch {
      throw this.wrong('it is not JSON');
    }
  }
}
