// Browsers in which somebody has signed in before. What comes from one draws from a bucket of its own when it signs in, so that
// a neighbour behind the same address, who spends what the address has, keeps nobody from signing in where they always do.
// The mark says nothing about who: it opens nothing, and survives signing out.
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type CoreConfig, originParts, sessionCookieName } from '../../config/config.ts';
import { keyedHash } from '../../credentials/master-key.ts';

interface KnownBrowserOptions {
  readonly config: Pick<CoreConfig, 'origin' | 'sessionCookie'>;
  readonly masterKey: Buffer;
  readonly random: (bytes: number) => Buffer;
}

const PURPOSE = 'known-browser';
const ID_BYTES = 16;
/** The longest that browsers keep a cookie (RFC 6265bis, section 5.5). */
const MAX_AGE_SECONDS = 400 * 24 * 3_600;
const MARK = /^([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;

export class KnownBrowsers {
  readonly #options: KnownBrowserOptions;
  readonly #name: string;

  constructor(options: KnownBrowserOptions) {
    this.#options = options;
    this.#name = `${sessionCookieName(options.config)}-browser`;
  }

  /** The value of `Set-Cookie` for a browser in which somebody signed in; it keeps the mark that it has. */
  cookie(request: IncomingMessage): string {
    const id = this.#idOf(request) ?? this.#options.random(ID_BYTES).toString('base64url');
    const secure = originParts(this.#options.config).scheme === 'https' ? '; Secure' : '';
    const value = `${id}.${this.#proofOf(id).toString('base64url')}`;
    return `${this.#name}=${value}; Path=/; Max-Age=${MAX_AGE_SECONDS}; HttpOnly; SameSite=Lax${secure}`;
  }

  /** What the requests of this browser are counted under; `null` without a mark of ours, and with two of them. */
  subjectOf(request: IncomingMessage): string | null {
    const id = this.#idOf(request);
    return id === null ? null : `browser ${id}`;
  }

  #idOf({ headers: { cookie = '' } }: IncomingMessage): string | null {
    const begins = `${this.#name}=`;
    const values = cookie.split(';').flatMap((pair) => (pair.trim().startsWith(begins) ? [pair.trim()] : []));
    const [, id, proof] = MARK.exec(values[0]?.slice(begins.length) ?? '') ?? [];
    if (values.length !== 1 || id === undefined || proof === undefined) return null;
    return timingSafeEqual(Buffer.from(proof, 'base64url'), this.#proofOf(id)) ? id : null;
  }

  #proofOf(id: string): Buffer {
    return keyedHash(this.#options.masterKey, PURPOSE, id);
  }
}
