// Which installation presents this credential: its workload through the Gateway, or its frontend in a browser.
// Removed installations, suspended accounts and ended sessions do not authenticate.
import { appOrigin } from '../config/config.ts';
import type { CoreContext } from '../context.ts';
import type { FrontendCaller, InstallationCaller } from '../http/caller.ts';
import { findByCoreCredential, findByFrontendCapability } from './prepared-queries.ts';

/** By core service credential (`pcs_…`). */
export async function findInstallationCaller(
  { pool }: CoreContext,
  tokenHash: Buffer,
): Promise<InstallationCaller | null> {
  const row = await findByCoreCredential(pool, tokenHash);
  if (row === undefined) return null;
  return {
    kind: 'installation',
    installationId: row.id,
    accountKey: row.account_key,
    accountName: row.account_name,
    appId: row.app_id,
    grants: row.grants,
    paused: row.paused,
    epoch: Number(row.epoch),
    envelopeKey: row.envelope_key,
    nodeKey: row.node_key,
  };
}

/** By frontend capability (`pfc_…`) after its exchange; a launch capability is none. */
export async function findFrontendCaller(
  { pool, clock, config }: CoreContext,
  tokenHash: Buffer,
): Promise<FrontendCaller | null> {
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
