// Answers one call of an app: finds the method and applies what the table says of it, in the same order for all.
import {
  type BridgeCall,
  laterBridgeMethods,
  missingGrantWords,
  type PermissionId,
  permissions,
} from '@platform/contract';
import { coveredBy, resourcesOf } from './grants.ts';
import type { Call, Method, Only, Params } from './method.ts';
import { findMethod } from './methods.ts';
import { readParams } from './params.ts';
import { BridgeRefusal } from './refusal.ts';
import type { BridgeCaller, ShellSide } from './shell-side.ts';

/**
 * @returns the result of the method
 * @throws BridgeRefusal for everything an app can cause; errors of core pass through with their own code
 */
export async function callMethod(
  shell: ShellSide,
  caller: BridgeCaller,
  method: string,
  params: unknown,
): Promise<unknown> {
  const found = await findMethod(method);
  if (found !== undefined) return await answer(found, shell, caller, params);
  if (laterBridgeMethods.some((later) => later === method)) {
    throw new BridgeRefusal('unavailable', `This version of the platform does not offer ${method} yet.`);
  }
  throw new BridgeRefusal('not_found', 'Unknown bridge method.');
}

async function answer<Name extends BridgeCall>(
  method: Method<Name>,
  shell: ShellSide,
  caller: BridgeCaller,
  sent: unknown,
): Promise<unknown> {
  const params = readParams<Params<Name>>(method.params, sent);
  const resources = await grantedResources(method, params, shell, caller);
  requireCaller(method, params, caller);
  const appId = method.installed?.(params);
  if (appId !== undefined) {
    await requireInstalled(shell, appId);
    // The person may have turned to another app meanwhile.
    requireCaller(method, params, caller);
  }
  const call: Call<Name> = { shell, caller, params, resources };
  if (method.asks === undefined) return await method.run(call);
  const { asks, run } = method;
  return await run(call, await shell.ask(caller.appId, () => asks(call)));
}

/**
 * The resources of the method's grant as core holds them now.
 * @throws BridgeRefusal `grant_missing` when the app does not hold the grant, or not on the target of this call
 */
async function grantedResources<Name extends BridgeCall>(
  method: Method<Name>,
  params: Params<Name>,
  shell: ShellSide,
  caller: BridgeCaller,
): Promise<readonly string[]> {
  const id: PermissionId | undefined = typeof method.grant === 'function' ? method.grant(params) : method.grant;
  if (id === undefined) return [];
  const resources = resourcesOf(await shell.currentGrants(caller.appId), id);
  const target = typeof method.target === 'function' ? method.target(params, caller) : method.target;
  const isAny = target === undefined || method.target === 'any';
  if (isAny ? resources.length > 0 : coveredBy(resources, target)) return resources;
  const name = (await shell.installedApps()).find(({ appId }) => appId === caller.appId)?.name ?? caller.appId;
  const requested = resourcesOf(await shell.requestedGrants(caller.appId), id);
  const isRequested = isAny ? requested.length > 0 : coveredBy(requested, target);
  const what = isAny ? permissions[id].plain : `${permissions[id].plain}${onWhich(id, target)}`;
  throw new BridgeRefusal('grant_missing', missingGrantWords({ name, id, what, isRequested }));
}

/** As core says it of the resources that a permission has. */
function onWhich(id: PermissionId, target: string): string {
  const { resources } = permissions[id];
  if (resources === 'app ids') return ` on the app ${JSON.stringify(target)}`;
  return resources === 'notification topics' ? ` on the topic ${JSON.stringify(target)}` : '';
}

/** @throws BridgeRefusal `not_authorized` for an app that the method is not for, or that the person is not looking at */
function requireCaller<Name extends BridgeCall>(
  { only, front }: Method<Name>,
  params: Params<Name>,
  caller: BridgeCaller,
): void {
  const allowed = typeof only === 'function' ? only(params) : only;
  if (allowed !== undefined && !isOneOf(allowed, caller)) {
    const who = allowed === 'home' ? 'the home screen' : `the platform’s own app ${allowed.join(' or ')}`;
    throw new BridgeRefusal('not_authorized', `Only ${who} may do this.`);
  }
  if ((typeof front === 'function' ? front(params) : front) && !caller.isInFront()) {
    throw new BridgeRefusal('not_authorized', 'Only the app in the foreground may do this.');
  }
}

function isOneOf(allowed: Only, caller: BridgeCaller): boolean {
  return allowed === 'home' ? caller.isHome() : allowed.includes(caller.appId) && caller.isSystemApp();
}

async function requireInstalled(shell: ShellSide, appId: string): Promise<void> {
  const apps = await shell.installedApps();
  if (!apps.some((app) => app.appId === appId)) throw new BridgeRefusal('not_found', 'This app is not installed.');
}
