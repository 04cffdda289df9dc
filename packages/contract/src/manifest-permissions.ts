// What publishing refuses of the permissions that a manifest requests: grants that could match nothing or are not for such an
// app, which would only mislead the person who reviews them.
import type * as z from 'zod';
import type { RequestedGrant } from './domains/grants.ts';
import { type FrontendSources, frontendSourceKinds, isConnectResource } from './frontend-origins.ts';
import { isPermissionId, onlyResource, requiredRole } from './permissions.ts';

/** Origins of one kind in `frontend.csp`. */
export const mostOrigins = 16;

interface Requesting {
  readonly permissions: readonly RequestedGrant[];
  readonly systemRoles?: readonly string[] | undefined;
  readonly frontend?: { readonly csp?: FrontendSources | undefined } | undefined;
}

/** As installations hold them: each id once, where it stands first, with the resources of all and the first reason. */
export function mergeRequests(requests: readonly RequestedGrant[]): RequestedGrant[] {
  const merged = new Map<string, RequestedGrant>();
  for (const request of requests) {
    const before = merged.get(request.id);
    const resources = [...new Set([...(before?.resources ?? []), ...request.resources])];
    merged.set(request.id, { ...request, ...before, resources });
  }
  return [...merged.values()];
}

/** @param most resources of one permission */
export function checkPermissions(manifest: Requesting, most: number, context: z.core.$RefinementCtx): void {
  const issue = (path: (string | number)[], message: string) => context.addIssue({ code: 'custom', path, message });
  for (const [index, request] of manifest.permissions.entries()) checkRequest(manifest, { index, ...request }, issue);
  for (const { id, resources } of mergeRequests(manifest.permissions)) {
    if (resources.length > most) issue(['permissions'], `must name at most ${most} resources of ${id} in all`);
  }
  checkConnections(manifest, issue);
}

type Issue = (path: (string | number)[], message: string) => void;

function checkRequest(
  { systemRoles = [] }: Requesting,
  { index, id, resources }: RequestedGrant & { readonly index: number },
  issue: Issue,
): void {
  // What is no permission has its own fault, and is looked at here all the same.
  if (!isPermissionId(id)) return;
  const role = requiredRole(id);
  if (role !== undefined && !systemRoles.includes(role))
    issue(['permissions', index, 'id'], `is only for the app of the platform with the system role ${role}`);
  const only = onlyResource(id);
  if (only === null) return;
  for (const [at, resource] of resources.entries()) {
    if (resource !== only)
      issue(['permissions', index, 'resources', at], `must be "${only}", the only resource of ${id}`);
  }
}

/** The origins of a frontend need their grant by name: a wildcard is the same to a person whatever is behind it. */
function checkConnections({ frontend, permissions }: Requesting, issue: Issue): void {
  const origins: string[] = [];
  for (const [index, { id, resources }] of permissions.entries()) {
    if (id !== 'network.connect') continue;
    origins.push(...resources);
    // As many as a frontend can use: a person reads them all, and every list of apps holds them.
    const most = frontendSourceKinds.length * mostOrigins;
    if (origins.length > most) issue(['permissions', index, 'resources'], `must name at most ${most} origins`);
    for (const [at, resource] of resources.entries()) {
      if (!isConnectResource(resource))
        issue(
          ['permissions', index, 'resources', at],
          'must be an https origin such as https://api.example.com, an international name in its xn-- form',
        );
    }
  }
  for (const kind of frontendSourceKinds) {
    for (const [at, origin] of (frontend?.csp?.[kind] ?? []).entries()) {
      if (!origins.includes(origin))
        issue(['frontend', 'csp', kind, at], `needs ${origin} among the resources of the permission network.connect`);
    }
  }
}
