// AI providers: the request goes to the provider under a key that core gives for this one call, and never sees the
// workload; what it used is settled with core afterwards. Only the model's name and the sizes of a call reach core.
// call.ts has the way of one call; this is what all calls of a Gateway share.
import type { ServerResponse } from 'node:http';
import { limits, type Refusal } from '@platform/contract';
import { endFaulty, type ProblemOptions, sendProblem } from '@platform/http';
import { openCoreCalls } from '../core-calls.ts';
import { openRooms } from '../room.ts';
import type { GatewayService, ServiceContext } from '../service.ts';
import { Call, type CallMeans } from './call.ts';
import { presentedKey } from './heads.ts';
import { openProviderPolicy, PREFIX, type ProviderPolicy } from './provider-policy.ts';
import { openProviderPools } from './provider-pools.ts';
import { openSettlements } from './settlements.ts';

/** Bodies of all calls of one Gateway together, as a multiple of the largest one. */
const BODIES = 2;

export interface IntelligenceOptions {
  /** Milliseconds to the head of a provider's answer. Default: the platform's limit. */
  readonly headersTimeout?: number;
  /** Milliseconds of a whole call. Default: the platform's limit. */
  readonly deadline?: number;
}

export function intelligenceService(context: ServiceContext, options: IntelligenceOptions = {}): GatewayService {
  const core = openCoreCalls(context);
  const settlements = openSettlements(core);
  const pools = openProviderPools(context);
  const policy = openProviderPolicy(context.policy.intelligence);
  const rooms = openRooms(BODIES * policy.bodyBytes(), context.memory);
  const underWay = new Set<Call>();
  let closed: Promise<void> | null = null;
  const refuse = refusalsOf(policy);
  const means: CallMeans = {
    context,
    core,
    settlements,
    policy,
    pools,
    headersTimeout: options.headersTimeout ?? limits.intelligenceHeadSeconds.value * 1_000,
    deadline: options.deadline ?? limits.intelligenceCallSeconds.value * 1_000,
    isClosing: () => closed !== null,
    refuse,
  };

  return {
    prefixes: [PREFIX],
    presented: presentedKey,
    refuse,
    handle(incoming) {
      if (closed !== null) {
        refuse(incoming.res, { code: 'unavailable', retryAfter: 1 });
        return null;
      }
      const call = new Call(incoming, rooms.open(), means, (ended) => underWay.delete(ended));
      underWay.add(call);
      call.run().catch((error: unknown) => {
        endFaulty(incoming.res);
        context.onFault(error);
      });
      return call;
    },
    async apply(next) {
      policy.replace(next.intelligence);
      for (const call of underWay) call.review(next);
    },
    close() {
      closed ??= (async () => {
        for (const call of underWay) call.abandon();
        await settlements.close();
        await Promise.all([core.close(), pools.close()]);
      })();
      return closed;
    },
  };
}

/** Refusals as clients of the provider expect them. */
function refusalsOf(policy: ProviderPolicy): CallMeans['refuse'] {
  return (res: ServerResponse, refusal: Refusal, more: ProblemOptions = {}) => {
    const { req } = res;
    // Stock clients would repeat the call, which cannot succeed before the next month.
    if (refusal.code === 'budget_exhausted' && !res.headersSent) res.setHeader('x-should-retry', 'false');
    return sendProblem(res, refusal, { ...more, extend: policy.dialectFor(req.url ?? '', req.headers).refusal });
  };
}
