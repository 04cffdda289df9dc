// Names below `localhost` are this machine (RFC 6761, section 6.3). Browsers and Bun know that by themselves. Node and Deno ask
// the system, which on a stock Debian does not; so they are told where such a name leads.

/** Options of `fetch` and `WebSocket` beyond the standard: `dispatcher` of Node, `client` of Deno. */
type Connecting = Readonly<Record<string, unknown>>;

const NOTHING: Connecting = {};
const BELOW_LOCALHOST = /^(?:.+\.)?localhost\.?$/;

/** @returns what has to be added to the options of a request to this URL, so that it arrives without the system's resolver */
export function connecting(url: string): Connecting {
  const { hostname, port, protocol } = new URL(url);
  if (!BELOW_LOCALHOST.test(hostname)) return NOTHING;
  if (typeof Deno === 'object') return denoClient(Number(port) || (/s:$/.test(protocol) ? 443 : 80));
  return nodeDispatcher();
}

/** The part of Deno's own interface that is used here. */
declare const Deno: { createHttpClient(options: object): object } | undefined;

const clients = new Map<number, Connecting>();

function denoClient(port: number): Connecting {
  const known = clients.get(port);
  if (known !== undefined) return known;
  const made = {
    client: Deno?.createHttpClient({ proxy: { transport: 'tcp', hostname: '127.0.0.1', port } }),
  };
  clients.set(port, made);
  return made;
}

/** The dispatcher that Node's `fetch` uses: there is no import of its class, which lies in Node itself. */
const GLOBAL_DISPATCHER = Symbol.for('undici.globalDispatcher.1');

let dispatcher: Connecting | undefined;

function nodeDispatcher(): Connecting {
  dispatcher ??= makeDispatcher();
  return dispatcher;
}

function makeDispatcher(): Connecting {
  // Node loads its `fetch` with the first use of one of its classes.
  new Headers();
  const present = (globalThis as Readonly<Record<symbol, object | undefined>>)[GLOBAL_DISPATCHER];
  // A proxy of the environment, or of a test, keeps its say.
  if (present?.constructor.name !== 'Agent') return NOTHING;
  return { dispatcher: new (present.constructor as new (options: object) => object)({ connect: { lookup } }) };
}

type Found = (error: null, address: unknown, family?: number) => void;

/** As `dns.lookup`. */
function lookup(_name: string, { all }: { readonly all?: boolean }, found: Found): void {
  const [first, second] = [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ];
  if (all) found(null, [first, second]);
  else found(null, first.address, first.family);
}
