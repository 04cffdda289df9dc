// Which secret each slot of an installed app uses. A binding holds for the declaration that its owner reviewed: another
// one in a later version leaves it stale until it is reviewed again.
import { type DeclaredSlot, type InstallationId, type RouteBody, refuse, type SecretBinding } from '@platform/contract';
import {
  confirmedUnless,
  isWithin,
  type Refused,
  type SessionCaller,
  UNCONFIRMED_MILLISECONDS,
} from '../accounts/face.ts';
import { declaredSlots } from '../catalog/face.ts';
import type { CoreContext } from '../context.ts';
import { changing } from '../database/changing.ts';
import type { Executor } from '../database/schema.ts';
import { lockOwn, selectInstalledManifests, selectOwn } from '../installations/face.ts';
import { assignmentsRevoked } from '../placement/face.ts';
import { holdSecret } from '../secrets/face.ts';
import { type BindingRow, deleteBinding, isBoundTo, selectBindings, upsertBinding } from './queries.ts';

interface Place {
  readonly accountKey: string;
  readonly appId: string;
  readonly slot: string;
}

/** Every slot of the installed version, in its order. @throws RefusalError `not_found` */
export async function listBindings(
  { database }: CoreContext,
  accountKey: string,
  appId: string,
): Promise<SecretBinding[]> {
  const installation = await selectOwn(database, accountKey, appId);
  if (installation === undefined) throw refuse('not_found');
  const rows = await selectBindings(database, installation.id);
  return declaredSlots(installation.manifest).map((slot) =>
    bindingOf(
      slot,
      rows.find((row) => row.slot === slot.name),
    ),
  );
}

/**
 * When the answer is there, calls that were made with another binding of the slot have ended, or two seconds have passed. A passkey
 * confirms that a secret goes to an origin for which it was not bound yet, unless this session stored its value within the last
 * five minutes.
 *
 * @throws RefusalError as {@link confirmedUnless}; `not_found` for an app that is not installed, a slot that it does not declare, a secret that the
 *   account does not have; `binding_stale` when the installed version declares something else than was reviewed
 */
export async function bindSecret(
  context: CoreContext,
  {
    caller,
    appId,
    slot,
    refused,
  }: Omit<Place, 'accountKey'> & { readonly caller: SessionCaller; readonly refused: Refused },
  { secret, declarationHash, inject, confirmation }: RouteBody<'apps.secretBindings.bind'>,
): Promise<SecretBinding> {
  const { accountKey, sessionId } = caller;
  const confirming = { caller, operation: 'secret.bind', subject: secret, confirmation, refused } as const;
  return confirmedUnless(context, confirming, async (trx, require) => {
    const installation = await lockOwn(trx, accountKey, appId);
    if (installation === undefined) throw refuse('not_found');
    const declared = declaredSlots(installation.manifest).find(({ name }) => name === slot);
    if (declared === undefined) throw refuse('not_found', `${appId} declares no secret slot of this name.`);
    if (declared.declarationHash !== declarationHash) throw refuse('binding_stale');
    const held = await holdSecret(trx, accountKey, secret);
    if (held === undefined) throw refuse('not_found', 'You have no secret of this name.');
    const { origin, pathPrefix, methods } = declared;
    const isNew = held.storedIn === sessionId && isWithin(UNCONFIRMED_MILLISECONDS, held.storedAt, context.clock());
    const isNewThere = !(await isBoundTo(trx, accountKey, secret, origin));
    if (!isNew && isNewThere) require();
    const binding = { slot, secret, declarationHash, declaration: { origin, pathPrefix, methods }, inject };
    await upsertBinding(trx, { id: installation.id, accountKey, binding });
    await assignmentsRevoked(context, trx, { nodes: [installation.node_id], touched: null });
    const { name: appName } = installation.manifest;
    const event = { kind: 'secret-bound', secret, origin, appName } as const;
    if (isNewThere) await context.lifecycle.securityEvent(trx, caller, event);
    return bindingOf(declared, binding);
  });
}

/**
 * When the answer is there, calls that were made with the binding have ended, or two seconds have passed.
 *
 * @throws RefusalError `not_found` when nothing is bound there
 */
export async function unbindSecret(context: CoreContext, { accountKey, appId, slot }: Place): Promise<void> {
  await changing(context, async (trx) => {
    const installation = await lockOwn(trx, accountKey, appId);
    if (installation === undefined || !(await deleteBinding(trx, installation.id, slot))) throw refuse('not_found');
    await assignmentsRevoked(context, trx, { nodes: [installation.node_id], touched: null });
  });
}

/** Ends bindings of slots that the installed versions do not declare at all: nobody could see or end them. */
export async function dropUndeclared(trx: Executor, ids: readonly InstallationId[]): Promise<void> {
  for (const { id, manifest } of await selectInstalledManifests(trx, ids)) {
    const declared = new Set(declaredSlots(manifest).map(({ name }) => name));
    for (const { slot } of await selectBindings(trx, id)) {
      if (!declared.has(slot)) await deleteBinding(trx, id, slot);
    }
  }
}

function bindingOf({ name, ...declared }: DeclaredSlot, row: BindingRow | undefined): SecretBinding {
  if (row === undefined) return { slot: name, ...declared, state: 'unbound', secret: null, inject: null };
  const { secret, inject } = row;
  if (row.declarationHash === declared.declarationHash)
    return { slot: name, ...declared, state: 'bound', secret, inject };
  return { slot: name, ...declared, state: 'stale', secret, inject, former: row.declaration };
}
