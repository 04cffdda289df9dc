// Outbound calls with a secret that the workload never sees (specification 4.4, contract 4b). Core says for each call
// whether it may be made, where it leads, and seals the secret for this Gateway; the Gateway puts it into the one request
// that it sends. Bodies and answers pass through here only.
import { authorizedOutbound, hidesDotSegment, outboundContext, type Refusal, slotName } from '@platform/contract';
import {
  type Abandonable,
  type Carried,
  carry,
  endFaulty,
  ensuringRequestId,
  type IncomingRequest,
  responseFilter,
  sendProblem,
} from '@platform/http';
import type * as z from 'zod';
import { CoreRefusal, openCoreCalls } from '../core-calls.ts';
import { queryNamesMethod } from '../overrides.ts';
import { isRedirect } from '../redirect.ts';
import type { GatewayService, ServiceContext } from '../service.ts';
import { hasManyCredentials, invalid, namesHeader, refuseHead } from './refuse-head.ts';
import { joinPath, namesParameter, slotOf, withParameter } from './upstream-path.ts';
import { openUpstreams, type Upstreams } from './upstreams.ts';

type Authorized = z.output<typeof authorizedOutbound>;

const PREFIX = '/v1/services/outbound/';
const WITHDRAWN: Refusal = {
  code: 'not_authorized',
  detail: 'This call was ended: its permission or the secret of its slot was withdrawn.',
};
const NO_SLOT: Refusal = { code: 'not_found', detail: 'This is not the name of a secret slot.' };
const COOKIES = new Set(['set-cookie', 'set-cookie2']);
const filterResponse = ensuringRequestId(responseFilter((name) => COOKIES.has(name)));

export function outboundService(context: ServiceContext): GatewayService {
  const core = openCoreCalls(context);
  const upstreams = openUpstreams(context);
  const underWay = new Set<OutboundCall>();
  let slots = context.policy.outbound ?? {};
  return {
    prefixes: [PREFIX],
    // Two credentials are a mistake in the request, not a lack of one.
    refuse: (res, refusal, options) =>
      sendProblem(
        res,
        refusal.code === 'unauthenticated' && hasManyCredentials(res.req)
          ? invalid('Send one Authorization: the Gateway credential. The secret is added on the way.')
          : refusal,
        options,
      ),
    handle(incoming) {
      const { slot, below } = slotOf(incoming.path, PREFIX);
      const refusal = slotName.safeParse(slot).success ? refuseRequest(incoming, below) : NO_SLOT;
      if (refusal !== null) {
        sendProblem(incoming.res, refusal);
        return null;
      }
      const authorize = (method: string) =>
        core.post('/v1/gateway/outbound/authorize', { slot, method }, authorizedOutbound);
      const onOver = (): void => void underWay.delete(call);
      const call = new OutboundCall({ context, upstreams, authorize, incoming, slot, below, onOver });
      underWay.add(call);
      return call.start();
    },
    async apply({ outbound = {} }) {
      const former = slots;
      slots = outbound;
      // A slot that the former policy did not know may have got its binding just before the call.
      const isLost = (slot: string): boolean =>
        outbound[slot] === undefined || (former[slot] !== undefined && former[slot] !== outbound[slot]);
      for (const call of underWay) if (isLost(call.slot)) call.withdraw();
    },
    async close() {
      await Promise.all([core.close(), upstreams.close()]);
    },
  };
}

function refuseRequest({ req, query }: IncomingRequest, below: string): Refusal | null {
  if (hidesDotSegment(below)) return { code: 'invalid_path' };
  if (queryNamesMethod(query)) return invalid('Send no method in the query: only the request line says it.');
  if (query.includes('#')) return invalid('A query holds no #. Encode it as %23.');
  return refuseHead(req);
}

interface CallParts {
  readonly context: ServiceContext;
  readonly upstreams: Upstreams;
  readonly authorize: (method: string) => Promise<Authorized>;
  readonly incoming: IncomingRequest;
  readonly slot: string;
  /** Path below the slot, without the `/` after it. */
  readonly below: string;
  /** Called when its response is over, whatever became of it. */
  readonly onOver: () => void;
}

class OutboundCall implements Abandonable {
  readonly #parts: CallParts;
  #carried: Carried | null = null;
  #abandoned = false;
  #withdrawn = false;

  constructor(parts: CallParts) {
    this.#parts = parts;
  }

  get slot(): string {
    return this.#parts.slot;
  }

  start(): this {
    const { incoming, context } = this.#parts;
    this.#run().catch((error: unknown) => {
      if (this.#abandoned) return;
      if (error instanceof CoreRefusal) {
        sendProblem(incoming.res, error.refusal);
        return;
      }
      endFaulty(incoming.res);
      context.onFault(error);
    });
    return this;
  }

  abandon(): void {
    this.#abandoned = true;
    this.#carried?.abandon();
    this.#parts.onOver();
  }

  /** What it was allowed under is gone: nothing more goes out or comes back. */
  withdraw(): void {
    this.#withdrawn = true;
    this.#carried?.abort(WITHDRAWN);
  }

  async #run(): Promise<void> {
    const { context, incoming, slot, authorize } = this.#parts;
    const { req, res, query } = incoming;
    const method = req.method ?? '';
    const { envelope, ...call } = await authorize(method);
    if (this.#abandoned) return;
    const { inject } = call;
    if (inject.in === 'header' ? namesHeader(req, inject.name) : namesParameter(query, inject.name)) {
      sendProblem(
        res,
        invalid(
          `Do not send the ${inject.in === 'header' ? 'header' : 'query parameter'} ${inject.name}: the secret goes there.`,
        ),
      );
      return;
    }
    const secret = await context.envelopes.open(
      outboundContext(context.installationId, { slot, method, ...call }),
      envelope,
    );
    if (this.#withdrawn) sendProblem(res, WITHDRAWN);
    else if (!this.#abandoned) this.#send(call, secret);
    secret.fill(0);
  }

  /** Strings cannot be wiped: those with the secret are held by the one exchange alone, and end with it. */
  #send({ origin, pathPrefix, inject }: Omit<Authorized, 'envelope'>, secret: Buffer): void {
    const { context, upstreams, incoming, slot, below } = this.#parts;
    const inHeader = inject.in === 'header';
    const scheme = inject.scheme === '' ? '' : `${inject.scheme} `;
    // Fields are written byte by byte: the secret as it is, in UTF-8.
    const injected = inHeader ? [inject.name, scheme + secret.toString('latin1')] : [];
    const query = inHeader ? incoming.query : withParameter(incoming.query, inject.name, secret.toString('utf8'));
    const carried = carry(incoming, {
      upstream: {
        name: 'outbound',
        dispatcher: upstreams.get(slot, origin),
        path: joinPath(pathPrefix, below) + query,
        headers: injected.concat(incoming.head.forwarded),
        filterResponse,
        headersTimeout: context.headersTimeout,
        onFailure: context.onFailure,
      },
      tap: {
        head(status) {
          if (isRedirect(status)) carried.abort({ code: 'upstream_redirect_refused' });
        },
      },
    });
    this.#carried = carried;
  }
}
