// Asks the operator's search engine. The operator named it, so it may lie in a private network; what it answers is a stranger's.
import { limits, RefusalError, refuse, type WebSearchItem } from '@platform/contract';
import { createDialer, type Dialer, openDialingPool } from '@platform/http';
import type { Pool } from 'undici';
import { decodeJson } from '../../http/bodies/parse-body.ts';
import type { EngineSettings } from './engine-file.ts';
import { readResults } from './results.ts';

export interface EngineOptions {
  /** Default: connects from this machine. */
  readonly dialer?: Dialer;
  /** Certificate authorities of the operator, PEM. Default: none besides the system's. */
  readonly ca?: string | undefined;
}

export class SearchEngine {
  readonly #settings: EngineSettings;
  readonly #pool: Pool;

  constructor(settings: EngineSettings, { dialer = createDialer(), ca }: EngineOptions = {}) {
    this.#settings = settings;
    const { origin } = settings.address;
    this.#pool = openDialingPool(origin, { dialer, allow: [origin], ca });
  }

  /** Searches under way go on. */
  retire(): Promise<void> {
    return this.#pool.close();
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }

  /** @throws RefusalError `upstream_failed`, `upstream_timeout` */
  async search(query: string, count: number, left: AbortSignal): Promise<WebSearchItem[]> {
    const late = AbortSignal.timeout(limits.webSearchSeconds.value * 1_000);
    let bytes: Buffer;
    try {
      bytes = await this.#ask(query, count, AbortSignal.any([late, left]));
    } catch (error) {
      if (error instanceof RefusalError) throw error;
      // Which of them it was says something about the network of the platform.
      throw late.aborted ? refuse('upstream_timeout', 'The search engine did not answer in time.') : failed();
    }
    const items = readResults(this.#settings.kind, answerIn(bytes), count);
    if (items === null) throw failed();
    return items;
  }

  async #ask(query: string, count: number, signal: AbortSignal): Promise<Buffer> {
    const { kind, address, key } = this.#settings;
    const parameters =
      kind === 'searxng' ? { q: query, format: 'json' } : { q: query, count: String(count), text_decorations: 'false' };
    const secret = key?.open();
    const headers: Record<string, string> = { accept: 'application/json', 'accept-encoding': 'identity' };
    if (secret !== undefined && kind === 'brave') headers['x-subscription-token'] = secret.toString('latin1');
    if (secret !== undefined && kind === 'searxng') headers.authorization = `Bearer ${secret.toString('latin1')}`;
    secret?.fill(0);
    // No redirect is followed: it would be somebody else's word. No cookie is kept or sent.
    const answer = await this.#pool.request({
      method: 'GET',
      path: `${address.pathname}?${new URLSearchParams(parameters)}`,
      headers,
      signal,
    });
    const pieces: Buffer[] = [];
    let size = 0;
    for await (const piece of answer.body as AsyncIterable<Buffer>) {
      size += piece.length;
      if (size > limits.webSearchAnswer.value) throw failed();
      pieces.push(piece);
    }
    if (answer.statusCode !== 200) throw failed(answer.statusCode);
    return Buffer.concat(pieces);
  }
}

function answerIn(bytes: Buffer): unknown {
  try {
    return decodeJson(bytes);
  } catch {
    throw failed();
  }
}

function failed(status?: number): RefusalError {
  const why = status === undefined ? 'gave no answer that can be read' : `answered ${status}`;
  return refuse('upstream_failed', `The search engine of this platform ${why}. Its operator can check it.`);
}
