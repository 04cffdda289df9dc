// One request on a connection of its own, for parts that call others rarely. Answers as `fetch` does.
import { buildConnector, Client, type Dispatcher } from 'undici';
import { isIrohAddress } from './carriers/iroh/address.ts';
import { httpOrigin, type LinkTarget, linkConnector } from './connect.ts';
import { GatheredBody, type Pace } from './gathered-body.ts';

/** `key`: that of the server, which must prove it before anything is sent. */
export interface LinkRequest extends Pick<LinkTarget, 'key' | 'certificate' | 'iroh' | 'lookup'> {
  readonly method: string;
  /** Value of the Host header. Default: that of the URL. */
  readonly host?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Ends the request, and the answer's body as well. */
  readonly signal: AbortSignal;
  /** Holds the reading of the answer's body back. Default: it is read as fast as its reader asks. */
  readonly pace?: Pace;
}

/** With these, `Response` takes no body. */
const EMPTY: readonly number[] = [204, 205, 304];

/**
 * The body of the answer is read at most some 64 KiB ahead of its reader.
 *
 * @param at `https://address:port/path`; `http://…` only without a key; or an iroh address and the path
 * @throws WrongKeyError when the other side does not prove its key; Error when it is not reached
 */
export async function fetchOverLink(
  at: string | { readonly address: string; readonly path: string },
  options: LinkRequest,
): Promise<Response> {
  const { origin, path } = whereOf(at);
  const { protocol, host } = new URL(httpOrigin(origin));
  const { method, headers, body = null, signal, key, certificate, iroh, lookup } = options;
  if (key !== undefined && origin.startsWith('http:')) throw new Error('a key can be proven over https only');
  signal.throwIfAborted();
  const client = new Client(`${protocol}//${options.host ?? host}`, {
    connect: linkConnector(buildConnector, { origin, key, certificate, iroh, lookup, signal }),
    pipelining: 1,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const answer = Promise.withResolvers<Response>();
  // What is connecting says first why it did not.
  const abort = () => void setImmediate(() => client.destroy(asError(signal.reason)));
  signal.addEventListener('abort', abort);
  const over = () => {
    signal.removeEventListener('abort', abort);
    void client.destroy();
  };
  client.dispatch({ path, method, headers, body, reset: true }, handlerOf(answer, { pace: options.pace, over }));
  return answer.promise;
}

function handlerOf(
  answer: Pick<PromiseWithResolvers<Response>, 'resolve' | 'reject'>,
  { pace, over }: { readonly pace: Pace | undefined; readonly over: () => void },
): Dispatcher.DispatchHandler {
  let body: GatheredBody | null = null;
  return {
    onRequestStart: () => undefined,
    onResponseStart(controller, status) {
      if (status < 200) return;
      body = new GatheredBody(
        {
          pause: () => controller.pause(),
          resume: () => controller.resume(),
          cancel: (reason) => controller.abort(asError(reason)),
        },
        pace,
      );
      if (EMPTY.includes(status)) answer.resolve(new Response(null, { status }));
      else if (status <= 599) answer.resolve(new Response(body.stream, { status }));
      else controller.abort(new Error(`the other side answered ${status}, which is no status`));
    },
    onResponseData: (_controller, piece) => body?.push(piece),
    onResponseEnd() {
      body?.end(null);
      over();
    },
    onResponseError(_controller, error) {
      answer.reject(error);
      body?.end(error);
      over();
    },
  };
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}

function whereOf(at: Parameters<typeof fetchOverLink>[0]): { readonly origin: string; readonly path: string } {
  if (typeof at !== 'string') return { origin: at.address, path: at.path };
  if (isIrohAddress(at)) return { origin: at, path: '/' };
  const { origin, pathname, search } = new URL(at);
  return { origin, path: `${pathname}${search}` };
}
