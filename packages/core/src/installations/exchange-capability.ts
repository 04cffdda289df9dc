// The single use of a launch capability: the frontend trades it for one that lasts as long as the session, at most
// 12 hours (contract 3). What stays behind in a history or an iframe's address is worth nothing any more.
import { type ExchangeAnswer, limits, refuse } from '@platform/contract';
import { appOrigin, type CoreConfig } from '../config/config.ts';
import type { CoreContext } from '../context.ts';
import { credentialKind, hashCredential, newCredential } from '../credentials/credential.ts';
import { isMissingReference } from '../database/missing-reference.ts';
import type { FailedLookups } from '../http/callers/failed-lookups.ts';
import { parseAppHost } from '../http/callers/origins.ts';
import { findLaunch, useLaunch } from './capability-queries.ts';

interface LaunchExchange {
  readonly capability: string;
  /** Of the request. */
  readonly origin: string | undefined;
  /** Of the client (`clientNetwork`). */
  readonly network: string;
}

/**
 * An exchange from another origin uses nothing up, so that it cannot lock the rightful one out. Those that fail alone are
 * counted, by network: each that succeeds has a launch of its own, which a session asked for.
 *
 * @throws RefusalError `origin_not_allowed` from anywhere but the origin of that installation, `unauthenticated` for
 *   a capability that is unknown, used or expired, `rate_limited` where too many of the network were
 */
export async function exchangeCapability(
  context: CoreContext,
  failures: FailedLookups,
  { capability, origin, network }: LaunchExchange,
): Promise<ExchangeAnswer> {
  const from = appOf(origin, context.config);
  if (from === null) throw refuse('origin_not_allowed');
  const ended = () => refuse('unauthenticated', 'The launch has expired or was used already. Open the app again.');
  if (credentialKind(capability) !== 'frontend') throw ended();
  const now = context.clock();
  const expiresAt = new Date(now.getTime() + limits.frontendCapabilitySeconds.value * 1_000);
  const exchanged = newCredential('frontend', context.random);
  const launchHash = hashCredential(capability);
  const exchange = { launchHash, frontendHash: hashCredential(exchanged), ...from, now, expiresAt };
  const use = () => useLaunch(context.pool, exchange).then((endsAt) => endsAt ?? null);
  const endsAt = await failures.look(network, use).catch((error: unknown) => {
    // The session ended while the statement ran.
    if (isMissingReference(error)) throw ended();
    throw error;
  });
  if (endsAt !== null) return { appId: from.appId, capability: exchanged, expiresAt: endsAt.toISOString() };
  const owner = await findLaunch(context.pool, launchHash, now);
  // Live and of this very origin means that it was used between the two statements, which is the past.
  const isOther = owner !== undefined && (owner.app_id !== from.appId || owner.host_label !== from.hostLabel);
  throw isOther ? refuse('origin_not_allowed') : ended();
}

/** The app whose exact origin this is. */
function appOf(origin: string | undefined, config: CoreConfig): { appId: string; hostLabel: string } | null {
  if (origin === undefined || !URL.canParse(origin)) return null;
  const host = parseAppHost(new URL(origin).hostname, config.appsDomain);
  return host !== null && appOrigin(config, host.appId, host.hostLabel) === origin ? host : null;
}
