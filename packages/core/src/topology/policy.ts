// What the internet reaches of an installation, as its Gateway checks it again: the same routes as the topology says.
import { openRoutes } from '@platform/contract';
import { publicHostname } from '../config/config.ts';
import type { CoreContext } from '../context.ts';
import { resourcesOf } from '../grants/grant-coverage.ts';
import type { PolicyPart } from '../policy.ts';

export function publicPolicy({ config }: Pick<CoreContext, 'config'>): PolicyPart {
  return ({ appId, grants, manifest: { publicEndpoints = [] } }, now) => {
    const routes = openRoutes(publicEndpoints, resourcesOf(grants, 'endpoints.public'));
    if (routes.length === 0) return {};
    if (now === null) return { gateway: { public: { hostname: '', routes } } };
    if (!now.servesPublic || now.publicLabel === null) return {};
    return { gateway: { public: { hostname: publicHostname(config, appId, now.publicLabel), routes } } };
  };
}
