// Decides about one outbound call at the moment it is made: the grants as they are now, the slot of the installed version,
// the method, and a binding of exactly this declaration. What leaves is the secret sealed for the Gateway of this start.
import { type AuthorizedOutbound, outboundContext, type PermissionId, refuse } from '@platform/contract';
import { sealEnvelope } from '@platform/link';
import { declaredSlots } from '../catalog/face.ts';
import type { CoreContext } from '../context.ts';
import { allows } from '../grants/grant-coverage.ts';
import type { InstallationCaller } from '../installations/face.ts';
import { missingGrant } from '../installations/face.ts';
import { markUsed, openSecret } from '../secrets/face.ts';
import { findCall } from './queries.ts';

/** `lastUsedAt` is not written more often than this, so that calls need not write. */
const USE_NOTED_MS = 10_000;

/**
 * @throws RefusalError `not_found` for a slot that the installed version does not declare; `not_authorized` without the
 *   grants, the method or a current binding; `unavailable` where the Gateway of this start can open nothing
 */
export async function authorizeCall(
  context: CoreContext,
  caller: InstallationCaller,
  { slot: name, method }: { readonly slot: string; readonly method: string },
): Promise<AuthorizedOutbound> {
  const { installationId, accountKey, appId, grants, envelopeKey } = caller;
  const row = await findCall(context.pool, installationId, name);
  const slot = declaredSlots({ secretSlots: row?.slots ?? [] }).find((declared) => declared.name === name);
  if (row === undefined || slot === undefined) throw refuse('not_found', `${appId} declares no secret slot "${name}".`);
  const { origin, pathPrefix, methods, declarationHash } = slot;
  const notGranted = (id: PermissionId, resource: string, what: string) =>
    missingGrant(context.pool, caller, { id, resource, what, code: 'not_authorized' });
  if (!methods.some((declared) => declared === method))
    throw refuse('not_authorized', `The slot "${name}" declares ${methods.join(', ')}, not ${method}.`);
  if (!allows(grants, 'secrets.use', name))
    throw await notGranted('secrets.use', name, `use the secret of its slot "${name}"`);
  if (!allows(grants, 'network.connect', origin))
    throw await notGranted('network.connect', origin, `exchange data with ${origin}`);
  const { secret } = row;
  const choose = `The account owner can choose one in Settings → Apps → ${appId} → Secrets.`;
  if (secret === null) throw refuse('not_authorized', `The slot "${name}" has no secret. ${choose}`);
  if (row.declaration_hash !== declarationHash)
    throw refuse('not_authorized', `The slot "${name}" leads elsewhere than when its secret was chosen. ${choose}`);
  if (envelopeKey === null)
    throw refuse('unavailable', 'The node of this app has an older version. Stop the app and start it again.');
  const call = {
    origin,
    pathPrefix,
    inject: { in: row.inject_in, name: row.inject_name, scheme: row.inject_scheme },
  };
  const plain = openSecret(context, { accountKey, name: secret }, row.sealed);
  const sealing = outboundContext(installationId, { slot: name, method, ...call });
  const envelope = await sealEnvelope(envelopeKey, sealing, plain).finally(() => plain.fill(0));
  await noteUse(context, { accountKey, name: secret, lastUsedAt: row.last_used_at });
  return { ...call, envelope };
}

async function noteUse(
  { database, clock }: CoreContext,
  { accountKey, name, lastUsedAt }: { accountKey: string; name: string; lastUsedAt: Date | null },
): Promise<void> {
  const now = clock();
  if (lastUsedAt !== null && now.getTime() - lastUsedAt.getTime() < USE_NOTED_MS) return;
  await markUsed(database, accountKey, name, now);
}
