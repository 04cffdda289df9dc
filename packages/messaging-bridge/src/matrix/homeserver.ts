// The client-server API of the homeserver, as much of it as the bridge uses, for the accounts in whose name it acts: the token
// is that of the application service, the account and its device are named with each request.
import { Pool } from 'undici';
import * as z from 'zod';

export interface HomeserverOptions {
  /** Such as `https://matrix.example.com`. */
  readonly origin: string;
  /** Of the registration, `as_token`. */
  readonly token: string;
  /** Further certificate authorities, PEM. Default: the usual ones. */
  readonly ca?: string;
}

export interface MatrixRequest<Answer> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Segments, which are escaped: ids have every character. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object | string;
  /** What the answer must be like; members that it does not name are dropped. */
  readonly answer: z.ZodType<Answer>;
  /** Milliseconds. Default: 30,000. */
  readonly patience?: number;
  /** The homeserver asks other ones for it, which may take their time: nothing else waits for these. */
  readonly asksOthers?: boolean;
}

/** In whose name a request is. */
export interface As {
  readonly userId: string;
  /** Default: none, before there is one. */
  readonly deviceId?: string;
}

export interface Homeserver {
  /**
   * @throws MatrixError for a refusal
   * @throws HomeserverGoneError without an answer, or with one that is none
   */
  request<Answer>(as: As | null, request: MatrixRequest<Answer>): Promise<Answer>;
  close(): Promise<void>;
}

const whoami = ['_matrix', 'client', 'v3', 'account', 'whoami'];
const whoamiAnswer = z.object({ user_id: z.string() });

/** Who a request is of, for the homeserver. @throws MatrixError where it takes none of theirs */
export async function whoIs(homeserver: Homeserver, as: As | null): Promise<string> {
  return (await homeserver.request(as, { method: 'GET', path: whoami, answer: whoamiAnswer })).user_id;
}

/** Of a user id: the server whose user it is. */
export const serverOf = (userId: string) => userId.slice(userId.indexOf(':') + 1);

/** A refusal in the standard form. */
export class MatrixError extends Error {
  readonly status: number;
  readonly code: string;
  /** Milliseconds, where the server says when to try again. */
  readonly retryAfter: number | null;

  constructor(status: number, code: string, message: string, retryAfter: number | null) {
    super(`${code}: ${message}`);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/**
 * Whether it says that what was asked about is not there, or not for who asks: Synapse says `M_UNKNOWN` of rooms that it does not
 * know. Other refusals with these status codes are of something else: a path that a homeserver of another kind does not have, an
 * account that is suspended, a limit.
 */
export const saysNotThere = (error: unknown): error is MatrixError =>
  error instanceof MatrixError &&
  (error.code === 'M_FORBIDDEN' ||
    error.code === 'M_NOT_FOUND' ||
    (error.status === 404 && error.code === 'M_UNKNOWN'));

/** The homeserver does not answer, or with what no homeserver answers. */
export class HomeserverGoneError extends Error {}

/** Of an answer, in bytes: a homeserver bounds what it sends at once far below. */
const LONGEST_ANSWER = 32 * 1024 * 1024;
const PATIENCE_MS = 30_000;
/** To the homeserver: for what it knows by itself, and for what it asks others for. */
const CONNECTIONS = 32;
const CONNECTIONS_ASKING = 256;

const refusalBody = z.object({
  errcode: z.string().max(255),
  error: z.string().default(''),
  retry_after_ms: z.number().min(0).nullish(),
});

export function openHomeserver({ origin, token, ca }: HomeserverOptions): Homeserver {
  const open = (connections: number) =>
    new Pool(new URL(origin).origin, { connections, ...(ca === undefined ? {} : { connect: { ca } }) });
  const [pool, asking] = [open(CONNECTIONS), open(CONNECTIONS_ASKING)];
  const base = new URL(origin).pathname.replace(/\/+$/, '');
  return {
    async request(as, { method, path, query = {}, body, answer, patience = PATIENCE_MS, asksOthers = false }) {
      const acting = as === null ? {} : { user_id: as.userId, ...(as.deviceId && { device_id: as.deviceId }) };
      const search = new URLSearchParams({ ...query, ...acting });
      const target = `${base}/${path.map(encodeURIComponent).join('/')}?${search}`;
      const response = await (asksOthers ? asking : pool)
        .request({
          method,
          path: target,
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
          signal: AbortSignal.timeout(patience),
        })
        .then(async ({ statusCode, body: stream }) => ({ status: statusCode, bytes: await readAll(stream) }))
        .catch((error: Error) => {
          throw new HomeserverGoneError(`The homeserver does not answer: ${error.message}`, { cause: error });
        });
      const value = parse(response.bytes);
      if (response.status >= 400) throw refusalOf(response.status, value);
      const checked = answer.safeParse(value);
      if (response.status >= 300 || !checked.success)
        throw new HomeserverGoneError(`The homeserver answers ${method} /${path.join('/')} with something else.`);
      return checked.data;
    },
    close: async () => void (await Promise.all([pool.destroy(), asking.destroy()])),
  };
}

async function readAll(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of stream) {
    size += piece.length;
    if (size > LONGEST_ANSWER) throw new Error('its answer is too long');
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

function refusalOf(status: number, value: unknown): Error {
  const { data } = refusalBody.safeParse(value);
  if (data !== undefined) return new MatrixError(status, data.errcode, data.error, data.retry_after_ms ?? null);
  // A proxy before the homeserver answers like this while it is away.
  return new HomeserverGoneError(`The homeserver answers ${status} without a reason.`);
}
