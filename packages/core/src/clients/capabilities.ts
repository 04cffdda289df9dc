// Data-plane capabilities (specification 2.2): random, known to the database by their hash, made for each launch and for
// each start of a backend. Nodes ask core about those that clients present (docs/decisions/native-clients.md).
import {
  type AppCapability,
  type InstallationId,
  limits,
  refuse,
  type ValidCapabilities,
  type VerifiedCapability,
} from '@platform/contract';
import type { Kysely } from 'kysely';
import type { CoreContext } from '../context.ts';
import { credentialKind, hashCredential, newCredential } from '../credentials/credential.ts';
import { changing } from '../database/changing.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import { assignmentsChanged, assignmentsRevoked } from '../placement/face.ts';
import {
  deleteOfInstallation,
  deleteOldest,
  findInstalled,
  insertForBackend,
  insertForSession,
  type NewCapability,
  selectValid,
  shortenOfBackend,
} from './queries.ts';

type Executor = Kysely<DatabaseSchema>;
/** How many stay when there are too many: not one less, because each end before its time concerns the node. */
const KEPT = limits.dataPlaneCapabilities.value * 0.75;

/**
 * For a client that a session lets in.
 *
 * @throws RefusalError `session_expired` when the session or the installation has ended meanwhile
 */
export async function clientCapability(
  context: CoreContext,
  { installationId, sessionId }: { readonly installationId: InstallationId; readonly sessionId: string },
): Promise<string> {
  const { capability, stored } = newCapability(context, installationId);
  const made = await insertForSession(context.database, sessionId, stored);
  if (made === undefined) throw refuse('session_expired');
  if (made.live > limits.dataPlaneCapabilities.value) await endOldest(context, installationId, sessionId);
  return capability;
}

/** PLATFORM_APP_CAPABILITY of a start, which its node has made; those of former starts go on for a while. */
export async function keepOfStart(
  trx: Executor,
  { clock, time }: Pick<CoreContext, 'clock' | 'time'>,
  { installationId, tokenHash }: Pick<NewCapability, 'installationId' | 'tokenHash'>,
): Promise<void> {
  const now = clock();
  const overlap = limits.appCapabilityOverlapSeconds.value * 1_000;
  await shortenOfBackend(trx, installationId, new Date(now.getTime() + overlap));
  const stored = { installationId, tokenHash, now, proven: time.proven(), expiresAt: lastExpiry(now) };
  const made = await insertForBackend(trx, stored);
  // A node, or a backend that ends as soon as it has started, may start as often as it likes.
  if (made !== undefined && made.live > limits.dataPlaneCapabilities.value)
    await endOldestIn(trx, installationId, null);
}

/**
 * Another capability for a backend that runs: the former ones keep their time.
 *
 * @throws RefusalError `unavailable` on a node of a former version
 */
export async function renewAppCapability(context: CoreContext, installationId: InstallationId): Promise<AppCapability> {
  const { capability, stored } = newCapability(context, installationId);
  const made = await insertForBackend(context.database, stored);
  if (made === undefined)
    throw refuse('unavailable', 'The machine that this backend runs on needs an update of the platform first.');
  if (made.live > limits.dataPlaneCapabilities.value) await endOldest(context, installationId, null);
  return { capability, expiresAt: made.expires_at.toISOString() };
}

function newCapability(
  { clock, time, random }: Pick<CoreContext, 'clock' | 'time' | 'random'>,
  installationId: InstallationId,
): { readonly capability: string; readonly stored: NewCapability } {
  const capability = newCredential('dataPlane', random);
  const now = clock();
  const stored = {
    installationId,
    tokenHash: hashCredential(capability),
    now,
    proven: time.proven(),
    expiresAt: lastExpiry(now),
  };
  return { capability, stored };
}

function lastExpiry(now: Date): Date {
  return new Date(now.getTime() + limits.dataPlaneCapabilitySeconds.value * 1_000);
}

async function endOldest(
  { database }: CoreContext,
  installationId: InstallationId,
  sessionId: string | null,
): Promise<void> {
  await database.transaction().execute((trx) => endOldestIn(trx, installationId, sessionId));
}

async function endOldestIn(trx: Executor, installationId: InstallationId, sessionId: string | null): Promise<void> {
  const nodes = await deleteOldest(trx, installationId, { sessionId, kept: KEPT });
  if (nodes.some((id) => id !== null)) await assignmentsChanged(trx, null);
}

/** Whether a client of the backend's own protocol presented a valid one. */
export async function verifyCapability(
  { database, clock }: Pick<CoreContext, 'database' | 'clock'>,
  installationId: InstallationId,
  presented: string,
): Promise<VerifiedCapability> {
  const none = { valid: false, expiresAt: null };
  if (credentialKind(presented) !== 'dataPlane') return none;
  const [valid] = await selectValid(database, { installationId, hashes: [hashCredential(presented)], now: clock() });
  return valid === undefined ? none : { valid: true, expiresAt: valid.expires_at.toISOString() };
}

/** The answer to a node: nothing is valid for an installation that is not placed on it. */
export async function validOnNode(
  { database, clock }: Pick<CoreContext, 'database' | 'clock'>,
  nodeId: string,
  { installationId, hashes }: { readonly installationId: InstallationId; readonly hashes: readonly string[] },
): Promise<ValidCapabilities> {
  const now = clock();
  const asked = hashes.map((hash) => Buffer.from(hash, 'base64url'));
  const valid = await selectValid(database, { installationId, hashes: asked, nodeId, now });
  return {
    items: valid.map(({ token_hash, expires_at }) => ({
      hash: token_hash.toString('base64url'),
      endsInMilliseconds: expires_at.getTime() - now.getTime(),
    })),
  };
}

/**
 * Ends every capability of an installed app, its backend's own included. When the answer is there, its node has ended what
 * was under way with them, or two seconds have passed.
 *
 * @throws RefusalError `not_found`
 */
export async function disconnectClients(
  context: CoreContext,
  { accountKey, appId }: { readonly accountKey: string; readonly appId: string },
): Promise<void> {
  await changing(context, async (trx) => {
    const id = await findInstalled(trx, accountKey, appId);
    if (id === undefined) throw refuse('not_found');
    await assignmentsRevoked(context, trx, { nodes: await deleteOfInstallation(trx, id), touched: null });
  });
}
