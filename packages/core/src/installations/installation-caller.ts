// The workload of an installation, through its Gateway, by core service credential (`pcs_…`). Removed installations and
// suspended accounts do not authenticate.
import type { Grant, InstallationId } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import type { CallerScheme } from '../http/callers/scheme.ts';
import { pausedRefusal } from '../http/paused-refusal.ts';
import { findByCoreCredential, findIdentity, type IdentityRow } from './prepared-queries.ts';

/** What both parts of an installation act as. */
export interface InstallationIdentity {
  readonly installationId: InstallationId;
  readonly accountKey: string;
  readonly accountName: string;
  readonly appId: string;
  readonly grants: readonly Grant[];
  /** Its account is paused: every route refuses it. */
  readonly paused: boolean;
}

/** The workload of an installation, through its Gateway, by core service credential (`pcs_…`). */
export interface InstallationCaller extends InstallationIdentity {
  readonly kind: 'installation';
  readonly epoch: number;
  /** X25519, for which secrets are sealed; `null` when the node of this start gave none. */
  readonly envelopeKey: Buffer | null;
  /** Of the node that this start is on; `null` for one from before nodes had keys. */
  readonly nodeKey: Buffer | null;
}

declare module '../http/caller.ts' {
  interface CallerKinds {
    installation: InstallationCaller;
  }
}

/** The epoch of an installation that acts without a start of its backend, as for a call that its person approved. */
export const NO_START = 0;

export function installationCaller(context: CoreContext): CallerScheme<'installation'> {
  return {
    kind: 'installation',
    presented: { bearer: 'core', find: (tokenHash) => findInstallationCaller(context, tokenHash) },
    subject: ({ installationId }) => installationId,
    from: 'programs',
    link: {
      keyOf: ({ nodeKey }) => nodeKey,
      otherKey: 'This credential is of a backend on another node than the key of this connection.',
    },
    refusal: (caller, spec) => (caller.paused && spec.whilePaused !== true ? pausedRefusal() : null),
    changes: [
      { signal: 'installation-changed', about: 'installationId', ends: true },
      {
        signal: 'credential-replaced',
        about: 'installationId',
        // A start of the backend ends what was called by the start before it; what no start called goes on.
        matches: ({ epoch }) => epoch !== NO_START,
        ends: true,
      },
      { signal: 'pause-changed', about: 'accountKey', ends: true },
    ],
  };
}

/** @param tokenHash SHA-256 of the credential. Returns `null` for one that is unknown or has ended. */
export async function findInstallationCaller(
  { pool }: CoreContext,
  tokenHash: Buffer,
): Promise<InstallationCaller | null> {
  const row = await findByCoreCredential(pool, tokenHash);
  if (row === undefined) return null;
  return {
    kind: 'installation',
    ...identityOf(row),
    epoch: Number(row.epoch),
    envelopeKey: row.envelope_key,
    nodeKey: row.node_key,
  };
}

/** @returns `null` for one that was removed, and while its account is suspended */
export async function findInstallationIdentity(
  { pool }: Pick<CoreContext, 'pool'>,
  id: string,
): Promise<InstallationIdentity | null> {
  const row = await findIdentity(pool, id);
  return row === undefined ? null : identityOf(row);
}

function identityOf(row: IdentityRow): InstallationIdentity {
  return {
    installationId: row.id,
    accountKey: row.account_key,
    accountName: row.account_name,
    appId: row.app_id,
    grants: row.grants,
    paused: row.paused,
  };
}
