// Another platform over HTTP, with the token of `./platform login` or, for signing in, without one.
import { createReadStream } from 'node:fs';
import type http from 'node:http';
import { type ErrorCode, errors, type LogEntry, logEvent, type Problem, RefusalError } from '@platform/contract';
import { eventParser } from '@platform/contract/event-text';
import { reasonOf, StartError } from '@platform/core/start';
import type * as z from 'zod';
import { isLoopback } from './address.ts';

/** Answers are small; a platform that sends more is none. */
const LONGEST_ANSWER = 8 * 1024 * 1024;
const SILENCE_MS = 120_000;

interface Call {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** A file to upload. */
  readonly file?: { readonly path: string; readonly size: number; readonly mediaType: string };
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface LogPiece {
  readonly items: readonly LogEntry[];
  /** Lines that were removed from the log before they could be sent. */
  readonly missed: number;
  readonly last: number;
}

export class RemotePlatform {
  readonly origin: string;
  readonly #token: string | null;

  constructor(origin: string, token: string | null) {
    this.origin = origin;
    this.#token = token;
  }

  /**
   * @returns status and body, `null` where there is none
   * @throws RefusalError for a refusal of the platform, `unavailable` when it does not answer
   * @throws StartError `login_ended` when it does not know the token any more, `not_a_platform` for other answers
   */
  async call(call: Call): Promise<{ readonly status: number; readonly body: unknown }> {
    const response = await this.#send(call);
    const text = await textOf(response, this.origin);
    return { status: response.statusCode ?? 0, body: text === '' ? null : this.#parse(text) };
  }

  /** @throws RefusalError or StartError unless it answers */
  async require(): Promise<void> {
    await this.call({ method: 'GET', path: '/v1/health' });
  }

  async answers(): Promise<boolean> {
    try {
      await this.require();
      return true;
    } catch (error) {
      // A proxy in front of it answers for it meanwhile.
      if (error instanceof RefusalError || error instanceof StartError) return false;
      throw error;
    }
  }

  /** The log of a backend from here on. Throws as {@link call}; ends when the platform ends the stream. */
  async *followLogs(
    appId: string,
    start: { readonly newest: number } | { readonly after: number },
    signal: AbortSignal,
  ): AsyncGenerator<LogPiece, void, undefined> {
    const path = `/v1/apps/${appId}/logs/stream`;
    const response = await this.#send(
      'after' in start
        ? { method: 'GET', path, signal, headers: { 'last-event-id': String(start.after) } }
        : { method: 'GET', path: `${path}?newest=${start.newest}`, signal },
    );
    const parse = eventParser();
    try {
      for await (const piece of response.setEncoding('utf8')) {
        for (const { event, data, id } of parse(String(piece))) {
          const lines = logEvent.safeParse({ event, data });
          if (lines.success && id !== undefined) yield { ...lines.data.data, last: Number(id) };
        }
      }
    } catch (error) {
      if (!signal.aborted) throw this.#silent(error);
    } finally {
      response.destroy();
    }
  }

  /** @throws StartError where an answer is not one of this version */
  read<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
    const parsed = schema.safeParse(body);
    if (parsed.success) return parsed.data;
    throw new StartError('not_a_platform', `${this.origin} does not answer like a platform of this version.`);
  }

  #parse(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch {
      throw this.#noPlatform();
    }
  }

  #noPlatform(): StartError {
    return new StartError('not_a_platform', `${this.origin} does not answer like a platform. Check the address.`);
  }

  #silent(error: unknown): RefusalError {
    return new RefusalError({ code: 'unavailable', detail: `${this.origin} does not answer: ${reasonOf(error)}` });
  }

  /** The answer of a request that was carried out. */
  async #send(call: Call): Promise<http.IncomingMessage> {
    const response = await this.#request(call).catch((error: unknown) => {
      throw this.#silent(error);
    });
    const status = response.statusCode ?? 0;
    if (status < 300) return response;
    // A token goes to the address that was named and to no other.
    if (status < 400) {
      response.destroy();
      throw new StartError(
        'redirected',
        `${this.origin} redirects to another address, and the command line does not follow. Use that address: ./platform login <address>`,
      );
    }
    throw this.#refusal(await textOf(response, this.origin));
  }

  #refusal(text: string): Error {
    const { code, detail, errors: faults } = (this.#parse(text) ?? {}) as Partial<Problem>;
    if (code === undefined || !Object.hasOwn(errors, code)) return this.#noPlatform();
    if (code === 'unauthenticated' && this.#token !== null)
      return new StartError(
        'login_ended',
        `The login to ${this.origin} has ended. Run: ./platform login ${this.origin}`,
      );
    const listed = Array.isArray(faults) ? { errors: faults } : {};
    return new RefusalError({ code: code as ErrorCode, ...(typeof detail === 'string' ? { detail } : {}), ...listed });
  }

  async #request({ method, path, json, file, headers = {}, signal }: Call): Promise<http.IncomingMessage> {
    const url = new URL(path, this.origin);
    const body = json === undefined ? undefined : JSON.stringify(json);
    const { request } = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http');
    const sent = request(url, {
      method,
      agent: false,
      timeout: SILENCE_MS,
      ...(signal === undefined ? {} : { signal }),
      // Names such as shell.platform.localhost are this machine, whatever its resolver knows of them.
      ...(url.hostname.endsWith('localhost') && isLoopback(url.hostname) ? { lookup: toThisMachine } : {}),
      headers: {
        accept: 'application/json, text/event-stream',
        ...(this.#token === null ? {} : { authorization: `Bearer ${this.#token}` }),
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
        ...(file === undefined ? {} : { 'content-type': file.mediaType, 'content-length': file.size }),
        ...headers,
      },
    });
    const answered = Promise.withResolvers<http.IncomingMessage>();
    sent.on('response', answered.resolve);
    sent.on('timeout', () => sent.destroy(new Error('no data for two minutes')));
    // Also after the answer: a platform may refuse an upload before all of it was sent.
    sent.on('error', answered.reject);
    if (file === undefined) sent.end(body);
    else {
      const source = createReadStream(file.path);
      source.on('error', (error) => sent.destroy(error));
      sent.on('close', () => source.destroy());
      source.pipe(sent);
    }
    return answered.promise;
  }
}

type Lookup = NonNullable<http.RequestOptions['lookup']>;

const toThisMachine: Lookup = (_host, options, done) => {
  if (options.all === true) done(null, [{ address: '127.0.0.1', family: 4 }]);
  else done(null, '127.0.0.1', 4);
};

async function textOf(response: http.IncomingMessage, origin: string): Promise<string> {
  let text = '';
  for await (const piece of response.setEncoding('utf8')) {
    text += String(piece);
    if (text.length > LONGEST_ANSWER) {
      response.destroy();
      throw new StartError('not_a_platform', `${origin} sent an answer that is too large for a platform.`);
    }
  }
  return text;
}
