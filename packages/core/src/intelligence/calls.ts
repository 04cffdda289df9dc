// AI calls as core sees them: whether one may be made and with which key, before; what it used, after. A call's tokens are
// reserved before it begins, so calls at the same time cannot use more than the month has.
import {
  type AuthorizedIntelligence,
  type AuthorizeIntelligence,
  limits,
  refuse,
  resourceOfCall,
} from '@platform/contract';
import { sealEnvelope } from '@platform/link';
import type pg from 'pg';
import type { IntelligenceProvider } from '../config/intelligence-file.ts';
import type { CoreContext } from '../context.ts';
import { allows, resourcesOf } from '../grants/grant-coverage.ts';
import type { InstallationCaller } from '../installations/face.ts';
import { missingGrant } from '../installations/face.ts';
import type { HostingLabel } from '../placement/face.ts';
import { authorizeCall, type CallDecision, renewCalls, settleCall } from './call-queries.ts';
import type { Flush } from './flush.ts';
import { monthOf, secondsToNextMonth } from './month.ts';
import { namesProvider } from './policy.ts';
import { openKey } from './provider-keys.ts';

/** Bytes of a body for each token that it is estimated to have. */
const BYTES_PER_TOKEN = 3;
const HOSTED: HostingLabel = 'platform-hosted';

/**
 * @throws RefusalError `rate_limited`, `not_found` for an unknown provider, `grant_missing`, `not_authorized` without a
 *   key, `placement_not_allowed`, `budget_exhausted`, `unavailable` on a platform without any provider and for a
 *   Gateway that has no key for envelopes
 */
export async function authorizeIntelligence(
  context: CoreContext,
  caller: InstallationCaller,
  call: AuthorizeIntelligence,
): Promise<AuthorizedIntelligence> {
  const settings = (await context.settings.current()).intelligence;
  const provider = settings.providers.find(({ id }) => id === call.provider);
  if (caller.envelopeKey === null)
    throw refuse('unavailable', 'An earlier version of the platform started this app. Stop and start it once.');
  const patterns = grantedModels(caller, call.provider);
  const resource = resourceOfCall(call);
  const isList = resource === null;
  const allowed = isList ? patterns.length > 0 : allows(caller.grants, 'intelligence.use', resource);
  const now = context.clock();
  const estimatedInput = Math.ceil(call.bodyBytes / BYTES_PER_TOKEN);
  const decision = await authorizeCall(context.pool, {
    installationId: caller.installationId,
    provider: call.provider,
    model: call.model ?? '',
    allowed: allowed && provider !== undefined,
    hasPlatformKey: provider?.platformKey != null,
    hostingLabel: HOSTED,
    requestsPerMinute: settings.requestsPerMinute,
    monthlyTokens: settings.monthlyTokens,
    estimatedInput,
    outputLimit: call.outputLimit,
    defaultOutput: limits.intelligenceOutput.value,
    reservation: call.reservation,
    now,
    month: monthOf(now),
    dueAt: dueFrom(now),
  });
  // Its credential was valid a moment ago.
  if (decision === undefined) throw refuse('unauthenticated');
  if (!decision.taken) throw rateGone(decision);
  if (settings.providers.length === 0) throw noProvider();
  if (provider === undefined) throw refuse('not_found', `This platform has no AI provider "${call.provider}".`);
  if (!allowed) throw await modelNotGranted(context.pool, caller, call);
  requireKey(decision, provider);
  if (decision.granted === null) throw budgetGone(decision, estimatedInput + (call.outputLimit ?? 1), now);
  return {
    reservation: call.reservation,
    dialect: provider.dialect,
    baseUrl: provider.baseUrl,
    envelope: await envelopeFor(context, { caller, envelopeKey: caller.envelopeKey, provider, decision }),
    outputLimit: call.outputLimit === null ? decision.granted - estimatedInput : null,
    streamUsage: provider.streamUsage,
    estimatedInput,
    visibleModels: isList && !patterns.includes('*') ? patterns : null,
  };
}

/** Patterns of models, without the provider; `*` for all of them. */
function grantedModels({ grants }: InstallationCaller, provider: string): string[] {
  const models = resourcesOf(grants, 'intelligence.use')
    .filter((pattern) => namesProvider(pattern, provider))
    .map((pattern) => (pattern.startsWith(`${provider}:`) ? pattern.slice(provider.length + 1) : '*'));
  return [...new Set(models)];
}

function modelNotGranted(pool: pg.Pool, caller: InstallationCaller, call: AuthorizeIntelligence): Promise<Error> {
  const { provider, model } = call;
  const what =
    model === null
      ? `use the AI provider ${provider} for anything but granted models, which needs ${provider}:*`
      : `use the AI provider ${provider} with the model ${model}`;
  return missingGrant(pool, caller, { id: 'intelligence.use', resource: resourceOfCall(call), what });
}

function noProvider(): Error {
  return refuse(
    'unavailable',
    'This platform has no AI provider yet. Its operator can add one in Fleet, or as docs/operators.md says under “AI providers”.',
  );
}

function rateGone({ bucket, perMinute }: CallDecision): Error {
  return refuse('rate_limited', `This app may make ${perMinute} AI calls a minute.`, {
    retryAfter: ((1 - bucket) * 60) / perMinute,
  });
}

function requireKey({ source, hosted }: CallDecision, { name }: IntelligenceProvider): void {
  if (source === null)
    throw refuse('not_authorized', `There is no key for ${name}. The account owner can set one in Settings → AI.`);
  if (source === 'platform' && !hosted)
    throw refuse(
      'placement_not_allowed',
      `This app runs on a machine that the platform does not host, where the platform’s key for ${name} is not used. A key of your own works: set it in Settings → AI.`,
    );
}

function budgetGone({ left }: CallDecision, wanted: number, now: Date): Error {
  return refuse(
    'budget_exhausted',
    `This call could use ${wanted} tokens, and ${Math.max(0, left)} are left of this app’s budget for the month.`,
    { retryAfter: secondsToNextMonth(now) },
  );
}

interface Sealing {
  readonly caller: InstallationCaller;
  readonly envelopeKey: Buffer;
  readonly provider: IntelligenceProvider;
  readonly decision: CallDecision;
}

async function envelopeFor(
  context: CoreContext,
  { caller, envelopeKey, provider, decision }: Sealing,
): Promise<string> {
  const { installationId, accountKey } = caller;
  const { source, sealed } = decision;
  const key =
    source === 'account' && sealed !== null
      ? openKey(context, accountKey, provider.id, sealed)
      : (provider.platformKey?.open() ?? Buffer.alloc(0));
  const bound = [provider.id, provider.baseUrl];
  try {
    return await sealEnvelope(envelopeKey, { purpose: 'intelligence', installationId, bound }, key);
  } finally {
    key.fill(0);
  }
}

function dueFrom(now: Date): Date {
  return new Date(now.getTime() + limits.intelligenceReservationSeconds.value * 1_000);
}

/** Idempotent: of a reservation that is over nothing changes, unless it was charged in full. Durable when it resolves. */
export async function settleIntelligence(
  { pool }: CoreContext,
  flush: Flush,
  { installationId }: InstallationCaller,
  used: {
    readonly reservation: string;
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly reached: boolean;
  },
): Promise<void> {
  await settleCall(pool, { ...used, installationId, mostModels: limits.intelligenceModels.value });
  await flush();
}

export async function renewIntelligence(
  { pool, clock }: CoreContext,
  { installationId }: InstallationCaller,
  reservations: readonly string[],
): Promise<void> {
  await renewCalls(pool, installationId, reservations, dueFrom(clock()));
}
