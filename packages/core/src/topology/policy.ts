// What the internet reaches of an installation, as its Gateway checks it once more: the routes that the topology has.
import { type Grant, openRoutes } from '@platform/contract';
import { publicHostname } from '../config/config.ts';
import type { CoreContext } from '../context.ts';
import { resourcesOf } from '../grants/grant-coverage.ts';
import type { PolicyPart } from '../policy.ts';

export function grantedRoutes(declared: readonly string[], grants: readonly Grant[]): string[] {
  return openRoutes(declared, resourcesOf(grants, 'endpoints.public'));
}

export function publicPolicy({ config }: Pick<CoreContext, 'config'>): PolicyPart {
  return ({ appId, grants, manifest: { publicEndpoints = [] } }, now) => {
    const routes = grantedRoutes(publicEndpoints, grants);
    if (routes.length === 0) return {};
    if (now === null) return { gateway: { public: { hostname: '', routes } } };
    if (!now.servesPublic || now.publicLabel === null) return {};
    return { gateway: { public: { hostname: publicHostname(config, appId, now.publicLabel), routes } } };
  };
}
