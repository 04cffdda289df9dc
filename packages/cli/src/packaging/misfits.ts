// What of a manifest does not fit together, or opens nothing: a package can be published with it, and its author wonders why
// the app does not do what it says.
import {
  type AgentManifest,
  criticalResources,
  type FieldError,
  isCritical,
  type Manifest,
  matchesResource,
  openRoutes,
  type PermissionId,
  partUsing,
  permissions as permissionTable,
  type ResourceKind,
  routeState,
  standardDiskMiB,
  standardResources,
} from '@platform/contract';

/** One finding each, in the order of the manifest; empty for most. */
export function misfits(manifest: Manifest): FieldError[] {
  return [
    ...ofRoles(manifest),
    ...ofWorkload(manifest),
    ...manifest.permissions.flatMap((_, index) => ofPermission(manifest, index)),
    ...ofEndpoints(manifest),
    ...ofPorts(manifest),
    ...ofSlots(manifest),
  ];
}

function ofRoles({ systemRoles = [] }: Manifest): FieldError[] {
  if (systemRoles.length === 0) return [];
  return [{ path: 'systemRoles', message: 'is only for apps that come with the platform: publishing refuses it' }];
}

function ofWorkload({ workload, permissions }: Manifest): FieldError[] {
  if (workload === undefined) return [];
  const { mode, idleSeconds, volume, resources, environment = {}, mcp, agent } = workload;
  const found: FieldError[] = [];
  if (mode === 'always' && idleSeconds !== standardResources.idleSeconds)
    found.push({ path: 'workload.idleSeconds', message: 'has no effect: a backend of mode "always" never sleeps' });
  if (!volume && resources.diskMiB !== standardDiskMiB)
    found.push({ path: 'workload.resources.diskMiB', message: 'has no effect without `"volume": true`' });
  if (Object.hasOwn(environment, 'PORT'))
    found.push({
      path: 'workload.environment.PORT',
      message: 'has no effect: the platform sets it to `workload.port`',
    });
  if (mcp !== undefined && requested(permissions, 'mcp.tools.serve').length === 0)
    found.push({
      path: 'workload.mcp',
      message: 'is not served: `permissions` does not ask for mcp.tools.serve on self',
    });
  return [...found, ...(agent === undefined ? [] : ofAgent(agent, permissions, environment))];
}

/** Its worker is the platform's: what only code of the app's own could use has no effect. */
function ofAgent(
  { model }: AgentManifest,
  permissions: Manifest['permissions'],
  environment: Readonly<Record<string, string>>,
): FieldError[] {
  const found: FieldError[] = [];
  const models = requested(permissions, 'intelligence.use');
  const named = model === undefined ? undefined : `${model.provider}:${model.id}`;
  if (named !== undefined && models.length > 0 && !models.some((pattern) => matchesResource(pattern, named)))
    found.push({
      path: 'workload.agent.model',
      message: `cannot be used: \`permissions\` does not ask for intelligence.use on ${named}`,
    });
  if (Object.keys(environment).length > 0)
    found.push({ path: 'workload.environment', message: 'has no effect: an agent has no code that reads it' });
  return found;
}

function requested(permissions: Manifest['permissions'], id: PermissionId): readonly string[] {
  return permissions.find((one) => one.id === id)?.resources ?? [];
}

function ofPermission(manifest: Manifest, index: number): FieldError[] {
  const request = manifest.permissions[index];
  if (request === undefined) return [];
  const { id, resources } = request;
  const path = `permissions[${index}]`;
  const found: FieldError[] = [];
  const part = partUsing(id);
  if (part !== undefined && manifest[part] === undefined)
    found.push({
      path,
      message: `asks for ${id}, which only a ${part === 'workload' ? 'backend' : 'frontend'} can use, and the app has none`,
    });
  if (resources.some((resource) => isCritical(id, resource)))
    found.push({
      path,
      message: `asks for ${id}${criticalResources(id) === 'all' ? '' : ' on everything'}, which is critical: people have to turn it on themselves, so the app must work without it`,
    });
  return [
    ...found,
    ...resources.flatMap((resource, at) => {
      const message = faultOf(manifest, id, resource);
      return message === null ? [] : [{ path: `${path}.resources[${at}]`, message }];
    }),
  ];
}

/** Why a resource of a permission matches nothing; `null` where it may. */
function faultOf(manifest: Manifest, id: PermissionId, resource: string): string | null {
  const { workload, frontend, publicEndpoints = [], publicPorts = [], secretSlots = [] } = manifest;
  const matchesAny = (names: readonly string[]) => names.some((name) => matchesResource(resource, name));
  switch (id) {
    case 'endpoints.public':
      return openRoutes(publicEndpoints, [resource]).length > 0
        ? null
        : 'opens nothing: `publicEndpoints` declares no such route';
    case 'endpoints.public.udp':
      return matchesAny(publicPorts.map(portResource)) ? null : 'opens nothing: `publicPorts` declares no such port';
    case 'secrets.use':
      return matchesAny(secretSlots.map(({ name }) => name))
        ? null
        : 'opens nothing: `secretSlots` declares no such slot';
    case 'network.connect': {
      const named = Object.values(frontend?.csp ?? {}).some((origins) => origins?.includes(resource));
      return named || matchesAny(secretSlots.map(({ origin }) => origin))
        ? null
        : 'opens nothing: neither `secretSlots` nor `frontend.csp` names such an origin';
    }
    case 'mcp.tools.serve':
      return workload === undefined || workload.mcp !== undefined
        ? null
        : 'opens nothing: `workload.mcp` does not say where the tools are';
    default:
      return hasForm(permissionTable[id].resources, resource)
        ? null
        : `matches nothing: resources of ${id} are ${permissionTable[id].resources}`;
  }
}

/** The resources that name something outside of the manifest, by what it can be called. */
const FORMS: Readonly<Partial<Record<ResourceKind, RegExp>>> = {
  'notification topics': /^[a-z0-9._-]{0,64}\*?$/,
  'app ids': /^[a-z0-9-]{0,40}\*?$/,
  'tool names': /^[A-Za-z0-9_.-]{0,128}\*?$/,
  '`<provider>:<model>` patterns': /^(?:[a-z0-9-]{1,32}:.+|[a-z0-9-]{0,32}\*)$/,
  '`<kind>:<id>` patterns': /^(?:[a-z0-9.-]{1,64}:.+|[a-z0-9.-]{0,64}\*)$/,
};

function hasForm(kind: ResourceKind, resource: string): boolean {
  return FORMS[kind]?.test(resource) ?? true;
}

function ofEndpoints({ publicEndpoints = [], permissions }: Manifest): FieldError[] {
  const granted = requested(permissions, 'endpoints.public');
  return publicEndpoints.flatMap((route, index) => {
    const state = routeState(route, granted);
    if (state === 'open') return [];
    const message =
      state === 'partly'
        ? 'opens in part only: `permissions` asks for less of it in endpoints.public'
        : `stays closed: \`permissions\` does not ask for endpoints.public on ${route}`;
    return [{ path: `publicEndpoints[${index}]`, message }];
  });
}

const portResource = ({ containerPort }: { readonly containerPort: number | 'auto' }) => `UDP:${containerPort}`;

function ofPorts({ publicPorts = [], permissions, workload }: Manifest): FieldError[] {
  const granted = requested(permissions, 'endpoints.public.udp');
  const found: FieldError[] = [];
  for (const [index, port] of publicPorts.entries()) {
    const path = `publicPorts[${index}]`;
    if (!granted.some((resource) => matchesResource(resource, portResource(port))))
      found.push({
        path,
        message: `stays closed: \`permissions\` does not ask for endpoints.public.udp on ${portResource(port)}`,
      });
    const same = publicPorts
      .slice(0, index)
      .find(({ containerPort }) => containerPort !== 'auto' && containerPort === port.containerPort);
    if (same !== undefined)
      found.push({ path: `${path}.containerPort`, message: `is that of ${same.name} too: both lead to one socket` });
  }
  if (publicPorts.length > 0 && workload?.mode === 'automatic')
    found.push({
      path: 'publicPorts',
      message: 'need mode "always", or a work lease: a datagram neither starts an automatic backend nor keeps it awake',
    });
  return found;
}

function ofSlots({ secretSlots = [], permissions }: Manifest): FieldError[] {
  const [secrets, origins] = [requested(permissions, 'secrets.use'), requested(permissions, 'network.connect')];
  return secretSlots.flatMap(({ name, origin }, index) => {
    const lacking = [
      ...(secrets.some((resource) => matchesResource(resource, name)) ? [] : [`secrets.use on ${name}`]),
      ...(origins.some((resource) => matchesResource(resource, origin)) ? [] : [`network.connect on ${origin}`]),
    ];
    if (lacking.length === 0) return [];
    return [
      {
        path: `secretSlots[${index}]`,
        message: `cannot be used: \`permissions\` does not ask for ${lacking.join(' and ')}`,
      },
    ];
  });
}
