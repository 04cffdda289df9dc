// What an Ingress answers `platform doctor`, so that it finds the hop on the way from the internet that spoils requests:
// whom the Ingress takes for the client, an answer in two pieces, and a WebSocket.
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { publicHostname } from '@platform/contract';
import {
  type Abandonable,
  acceptOf,
  endWithProblem,
  type IncomingRequest,
  type IncomingUpgrade,
  sendProblem,
} from '@platform/http';
import * as z from 'zod';
import type { Client, ReadClient } from './client-address.ts';
import { type CertificateSource, problemKinds } from './tls/certificate-source.ts';

/** Printed on a terminal, though any hop between may have written it. */
const address = z.string().regex(/^[0-9a-f.:%a-z-]{0,64}$/i);

/** `GET /facts` */
export const doctorFacts = z.strictObject({
  /** `Host` as it arrived. */
  host: z.string().regex(/^[\w.:[\]-]{1,300}$/),
  /** The other end of the connection: the last proxy, or the client. */
  peer: address,
  /** Whether the peer is one of PLATFORM_TRUSTED_PROXIES. */
  isTrusted: z.boolean(),
  /** `X-Forwarded-For` as it arrived, `null` without any. */
  forwardedFor: z.string().nullable(),
  /** Whom the node is given as the client. */
  client: z.strictObject({ address, protocol: z.enum(['http', 'https']) }),
});
export type DoctorFacts = z.infer<typeof doctorFacts>;

const MOST_PROBLEMS = 20;
const MOST_CHARACTERS = 500;
const line = z.string().max(MOST_CHARACTERS);

/** `GET /certificates/<proof>`, where the Ingress has any; times as in ISO 8601. */
export const doctorCertificates = z.strictObject({
  /** In service. */
  served: z.number(),
  /** Of those, the first that expires. */
  first: z.strictObject({ name: line, expires: z.iso.datetime() }).nullable(),
  /** Whether one is for the name under which this was asked. */
  hasOwnName: z.boolean(),
  /** The first of them. */
  problems: z
    .array(
      z.strictObject({
        name: line,
        kind: z.enum(problemKinds),
        what: line,
        retryAt: z.iso.datetime().nullable(),
        /** When what clients get instead expires; `null`: they get none. */
        servedUntil: z.iso.datetime().nullable(),
      }),
    )
    .max(MOST_PROBLEMS),
  /** How many problems there are beside these. */
  more: z.number(),
});
export type DoctorCertificates = z.infer<typeof doctorCertificates>;

/**
 * `GET /pieces/<id>` sends the first at once, and the last after `GET /release/<id>`. Behind a hop that holds answers back until
 * they are complete the doctor never gets the first, so it never releases the last; the answer then ends after a while with another.
 */
export const PIECES = { first: 'first\n', released: 'released\n', held: 'held back\n' } as const;
const HELD_MILLISECONDS = 5_000;
/** Answers that may wait to be released at a time. */
const MOST_WAITING = 8;
/** What the WebSocket at `/socket` sends before it closes. */
export const SOCKET_TEXT = 'from the Ingress';

export interface DoctorOptions {
  readonly readClient: ReadClient;
  /** Whether a text is the proof that the doctor asks on this machine. */
  isProof(text: string): boolean;
  /** `null` where there are none. */
  certificates(): Pick<CertificateSource, 'current' | 'served' | 'problems'> | null;
}

export class DoctorAnswers {
  readonly #options: DoctorOptions;
  /** What releases an answer, by its id. */
  readonly #waiting = new Map<string, () => void>();

  constructor(options: DoctorOptions) {
    this.#options = options;
  }

  answer({ req, res, head, path }: IncomingRequest, connection: Client): Abandonable | null {
    res.on('error', () => res.destroy());
    const [, what = '', id = ''] =
      (req.method === 'GET' && /^\/(facts|(?:pieces|release|certificates)(?=\/))(?:\/([0-9a-f]{1,32}))?$/.exec(path)) ||
      [];
    res.setHeader('x-request-id', randomUUID());
    res.setHeader('cache-control', 'no-store');
    const json = this.#json(what, id, { host: head.host, connection, headers: req.headers });
    if (json !== null) {
      res.setHeader('content-type', 'application/json');
      res.end(JSON.stringify(json));
      return null;
    }
    if (what === 'pieces' && !this.#waiting.has(id) && this.#waiting.size < MOST_WAITING)
      return this.#sendPieces(id, res);
    const release = what === 'release' ? this.#waiting.get(id) : undefined;
    if (release === undefined) {
      sendProblem(res, { code: 'not_found' });
      return null;
    }
    release();
    res.writeHead(204).end();
    return null;
  }

  #json(what: string, id: string, arrived: Arrived): DoctorFacts | DoctorCertificates | null {
    if (what === 'facts' && id === '') return factsOf(arrived, this.#options.readClient);
    if (what !== 'certificates' || !this.#options.isProof(id)) return null;
    const certificates = this.#options.certificates();
    return certificates === null ? null : certificatesOf(certificates, publicHostname(arrived.host));
  }

  #sendPieces(id: string, res: ServerResponse): Abandonable {
    const end = (last: string) => {
      clearTimeout(timer);
      this.#waiting.delete(id);
      res.end(last);
    };
    const timer = setTimeout(() => end(PIECES.held), HELD_MILLISECONDS);
    this.#waiting.set(id, () => end(PIECES.released));
    res.setHeader('content-type', 'text/plain');
    res.write(PIECES.first);
    return { abandon: () => end('') };
  }
}

/** How a request came. */
interface Arrived {
  readonly host: string;
  readonly connection: Client;
  readonly headers: IncomingHttpHeaders;
}

function factsOf({ host, connection, headers }: Arrived, readClient: ReadClient): DoctorFacts {
  return {
    host,
    peer: readClient(connection, {}).address,
    isTrusted: readClient(connection, { 'x-forwarded-for': ANYBODY }).address === ANYBODY,
    forwardedFor: [headers['x-forwarded-for'] ?? []].flat().join(', ') || null,
    client: readClient(connection, headers),
  };
}

function certificatesOf(
  source: Pick<CertificateSource, 'current' | 'served' | 'problems'>,
  host: string,
): DoctorCertificates {
  const served = [...source.served()].sort((one, other) => one.notAfter.getTime() - other.notAfter.getTime());
  const [first] = served;
  const problems = source.problems();
  return {
    served: served.length,
    first: first === undefined ? null : { name: first.name, expires: first.notAfter.toISOString() },
    hasOwnName: source.current(host) !== null,
    problems: problems.slice(0, MOST_PROBLEMS).map(({ name, kind, what, retryAt }) => ({
      name: name.slice(0, MOST_CHARACTERS),
      kind,
      what: what.slice(0, MOST_CHARACTERS),
      retryAt: retryAt?.toISOString() ?? null,
      servedUntil: served.find((one) => one.name === name)?.notAfter.toISOString() ?? null,
    })),
    more: Math.max(0, problems.length - MOST_PROBLEMS),
  };
}

/** An address that no client has (RFC 5737). */
const ANYBODY = '198.51.100.1';

const TEXT_FRAME = 0x81;
const CLOSE_FRAME = Buffer.from([0x88, 0]);

/** Completes the handshake (RFC 6455 section 4.2.2), sends one text, and closes. */
export function answerDoctorUpgrade({ req, socket, path }: IncomingUpgrade): void {
  socket.on('error', () => socket.destroy());
  if (path !== '/socket') {
    endWithProblem(socket, { code: 'not_found' });
    return;
  }
  const accept = acceptOf(req.headers['sec-websocket-key'] ?? '');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  const text = Buffer.from(SOCKET_TEXT);
  socket.end(Buffer.concat([Buffer.from([TEXT_FRAME, text.length]), text, CLOSE_FRAME]));
}
