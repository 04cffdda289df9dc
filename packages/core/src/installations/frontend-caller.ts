// The browser part of an installation, by frontend capability (`pfc_…`) after its exchange, from its own origin; a launch
// capability is none. Removed installations, suspended accounts and ended sessions do not authenticate.
import { refuse } from '@platform/contract';
import type { SessionCaller } from '../accounts/face.ts';
import { appOrigin } from '../config/config.ts';
import type { CoreContext } from '../context.ts';
import type { CallerScheme } from '../http/callers/scheme.ts';
import { pausedRefusal } from '../http/paused-refusal.ts';
import type { InstallationIdentity } from './installation-caller.ts';
import { findByFrontendCapability, findPage } from './prepared-queries.ts';

/** The browser part of an installation, by frontend capability (`pfc_…`) from its own origin. */
export interface FrontendCaller extends InstallationIdentity {
  readonly kind: 'frontend';
  readonly sessionId: string;
  readonly origin: string;
  readonly expiresAt: Date;
}

declare module '../http/caller.ts' {
  interface CallerKinds {
    frontend: FrontendCaller;
  }
}

export function frontendCaller(context: CoreContext): CallerScheme<'frontend'> {
  return {
    kind: 'frontend',
    presented: {
      bearer: 'frontend',
      find: (tokenHash) => findFrontend(context, tokenHash),
      expired: 'The capability has expired. Open the app again.',
    },
    subject: ({ installationId }) => installationId,
    from: { origin: ({ origin }) => origin },
    refusal: (caller, spec) => (caller.paused && spec.whilePaused !== true ? pausedRefusal() : null),
    changes: [
      {
        signal: 'session-ended',
        about: 'accountKey',
        matches: (caller, ended) => ended.sessionId === null || ended.sessionId === caller.sessionId,
        ends: true,
      },
      { signal: 'installation-changed', about: 'installationId', ends: true },
      { signal: 'pause-changed', about: 'accountKey', ends: true },
    ],
  };
}

async function findFrontend({ pool, clock, config }: CoreContext, tokenHash: Buffer): Promise<FrontendCaller | null> {
  const row = await findByFrontendCapability(pool, tokenHash, clock());
  if (row === undefined) return null;
  return {
    kind: 'frontend',
    installationId: row.id,
    accountKey: row.account_key,
    accountName: row.account_name,
    appId: row.app_id,
    grants: row.grants,
    paused: row.paused,
    sessionId: row.session_id,
    origin: appOrigin(config, row.app_id, row.host_label),
    expiresAt: row.expires_at,
  };
}

/**
 * The page of an app of the session's account, as the shell acts for it (contract 5): what it may do is what the app was granted.
 *
 * @throws RefusalError `not_found`, `runtime_paused`
 */
export async function pageOf(
  { pool, config }: CoreContext,
  { accountKey, sessionId, expiresAt }: SessionCaller,
  appId: string,
): Promise<FrontendCaller> {
  const row = await findPage(pool, accountKey, appId);
  if (row === undefined) throw refuse('not_found');
  if (row.paused) throw pausedRefusal();
  return {
    ...{ kind: 'frontend', installationId: row.id, accountKey, accountName: row.account_name, appId },
    ...{ grants: row.grants, paused: row.paused, sessionId, expiresAt },
    origin: appOrigin(config, appId, row.host_label),
  };
}
