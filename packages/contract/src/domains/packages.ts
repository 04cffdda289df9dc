// Packages and their manifest, `manifest.json` (contract 3, schema version 9).
import * as z from 'zod';
import { standardDiskMiB, standardResources } from '../backend-resources.ts';
import { KiB, type Limits, MiB } from '../domain.ts';
import { processorKinds } from '../executable.ts';
import { isSourceOrigin } from '../frontend-origins.ts';
import { checkPermissions, mergeRequests, mostOrigins } from '../manifest-permissions.ts';
import { LONGEST_PACKAGE_PATH, packagePath } from '../package-path.ts';
import { appId, portNumber, version } from '../primitives.ts';
import { nothingHidden, unmixedWords } from '../readable-names.ts';
import { checkRequestTarget } from '../request-target.ts';
import { readableLine, readableText, storable, visible } from '../text.ts';
import { agentManifest } from './agents.ts';
import { common } from './common.ts';
import { grants, requestedGrant } from './grants.ts';

export { packagePath } from '../package-path.ts';

const limits = {
  packagePacked: { value: 512 * MiB, unit: 'bytes', meaning: 'package as uploaded' },
  packageUnpacked: { value: 2048 * MiB, unit: 'bytes', meaning: 'package unpacked, all files together' },
  packageEntries: { value: 20_000, unit: 'items', meaning: 'files and folders in a package' },
  imageEntries: { value: 200_000, unit: 'items', meaning: 'files and folders in all layers of an image' },
  packagePathLength: { value: LONGEST_PACKAGE_PATH, unit: 'bytes', meaning: 'path of a file in a package' },
  packageRatio: { value: 200, unit: 'items', meaning: 'compression ratio, beyond the first 64 MiB' },
  manifestSize: { value: 256 * KiB, unit: 'bytes', meaning: '`manifest.json`' },
  changesLength: { value: 2_000, unit: 'characters', meaning: '`changes` of a manifest' },
  iconSize: { value: 256 * KiB, unit: 'bytes', meaning: 'icon of an app' },
  iconEdge: { value: 1_024, unit: 'pixels', meaning: 'width and height of an icon that is no SVG' },
  iconDrawing: { value: 10, unit: 'seconds', meaning: 'time to draw an icon that is an SVG as a PNG' },
  iconDrawingMemory: { value: 64 * MiB, unit: 'bytes', meaning: 'memory to draw an icon that is an SVG' },
  iconDrawnEdge: { value: 256, unit: 'pixels', meaning: 'longer side of the PNG that an SVG is drawn as' },
  screenshots: { value: 5, unit: 'items', meaning: 'screenshots of one version' },
  screenshotSize: { value: MiB, unit: 'bytes', meaning: 'one screenshot' },
  screenshotEdge: { value: 4_096, unit: 'pixels', meaning: 'width and height of a screenshot' },
  workloadIdleSeconds: { value: 300, unit: 'seconds', meaning: 'default idle delay of an automatic workload' },
} as const satisfies Limits;

const loadedFrom = z
  .array(
    z
      .string()
      .max(grants.limits.grantResourceLength.value)
      .refine(
        isSourceOrigin,
        'must be an origin such as https://api.example.com: https, lower case, without path or `*`, an international name in its xn-- form',
      ),
  )
  .max(mostOrigins);

const frontendSchema = z.strictObject({
  entry: packagePath.default('index.html'),
  chrome: z.enum(['auto', 'always', 'never']).default('auto'),
  /**
   * Outside origins the frontend may load from or connect to. Each is a resource of `network.connect` as well; only those
   * granted are in the served content security policy.
   */
  csp: z
    .strictObject({
      connect: loadedFrom.optional(),
      image: loadedFrom.optional(),
      media: loadedFrom.optional(),
    })
    .optional(),
});

function unique<Item>(key: (item: Item) => string) {
  return (items: readonly Item[]) => new Set(items.map(key)).size === items.length;
}

const environmentName = z
  .string()
  .max(128)
  .regex(/^[A-Z_][A-Z0-9_]*$/, 'must be upper-case letters, digits and underscores')
  .refine(
    (name) => name.startsWith('PLATFORM_S3_') || !/^(PLATFORM_|PROVIDER_)/.test(name),
    'must not begin with PLATFORM_ or PROVIDER_',
  )
  .refine(
    (name) => !/^(NODE_OPTIONS|NODE_CHANNEL_.*|NODE_EXTRA_CA_CERTS|LD_.*)$/.test(name),
    'is reserved for the runtime',
  );

export const triggerName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,63}$/, 'must be 1 to 64 lower-case letters, digits and hyphens, and start with a letter');

/** Where the platform calls a backend of its own accord. @param example in the error */
const calledPath = (example: string) =>
  z
    .string()
    .max(256)
    .regex(/^\/[\w\-./~]*$/, `must be a path such as ${example}`)
    .refine((path) => checkRequestTarget(path).ok && !path.includes('//'), 'must be a plain path');

/** Where a backend is called when a schedule of its owner's is due (contract 4d). */
export const workloadTrigger = z.strictObject({ name: triggerName, path: calledPath('/jobs/daily') });
export type WorkloadTrigger = z.infer<typeof workloadTrigger>;

/**
 * `node`: a script of the package; `binary`: an executable of the package; `oci`: a container image; `agent`: the
 * platform's own worker, led by instructions of the package.
 */
export const workloadRuntimes = ['node', 'binary', 'oci', 'agent'] as const;
export const workloadRuntime = z.enum(workloadRuntimes);

/** What a backend of each runtime is started with. */
const startedMember = { node: 'entry', binary: 'entry', oci: 'image', agent: 'agent' } as const;
const runtimesOfMember = { entry: '"node" or "binary"', image: '"oci"', agent: '"agent"' } as const;

const workload = z
  .strictObject({
    runtime: workloadRuntime,
    /** The script or the executable to start, below `workload/`. */
    entry: packagePath.optional(),
    agent: agentManifest.optional(),
    image: z.string().min(1).max(512).optional(),
    /** That the executable is compiled for. Core fills it in from the file. */
    processor: z.enum(processorKinds).optional(),
    /** The TCP port the workload listens on; it finds it in PORT. */
    port: portNumber.default(8080),
    mode: z.enum(['automatic', 'always']).default('automatic'),
    idleSeconds: z.int().min(5).max(86_400).default(limits.workloadIdleSeconds.value),
    /** Package-authored PLATFORM_S3_* values are removed (specification 2.9). */
    environment: z
      .record(
        environmentName,
        z
          .string()
          .max(4_096)
          .refine(...storable),
      )
      .refine((all) => Object.keys(all).length <= 64, 'may hold at most 64 variables')
      .transform((all) => Object.fromEntries(Object.entries(all).filter(([name]) => !name.startsWith('PLATFORM_S3_'))))
      .optional(),
    resources: z
      .strictObject({
        memoryMiB: z.int().min(32).max(65_536).default(standardResources.memoryMiB),
        cpus: z.number().min(0.05).max(64).default(standardResources.cpus),
        pids: z.int().min(8).max(4_096).default(standardResources.pids),
        diskMiB: z.int().min(1).max(1_048_576).default(standardDiskMiB),
      })
      .prefault({}),
    /** A persistent folder at PLATFORM_VOLUME_DIR. */
    volume: z.boolean().default(false),
    mcp: z
      .strictObject({
        path: calledPath('/mcp'),
      })
      .optional(),
    triggers: z
      .array(workloadTrigger)
      .max(16)
      .refine(
        unique(({ name }: { name: string }) => name),
        'must have distinct names',
      )
      .optional(),
  })
  .superRefine((value, context) => {
    const { runtime } = value;
    const starts = startedMember[runtime];
    const issue = (path: keyof typeof value, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message });
    if (value[starts] === undefined) issue(starts, `is required when runtime is "${runtime}"`);
    if (runtime !== 'binary' && value.processor !== undefined) issue('processor', 'belongs to runtime "binary"');
    for (const member of ['entry', 'image', 'agent'] as const) {
      if (member !== starts && value[member] !== undefined)
        issue(member, `belongs to runtime ${runtimesOfMember[member]}`);
    }
    for (const member of ['mcp', 'triggers'] as const) {
      if (runtime === 'agent' && value[member] !== undefined)
        issue(member, 'is for backends with code of their own, not for runtime "agent"');
    }
  });
export type WorkloadManifest = z.infer<typeof workload>;
export const workloadManifest = workload;

/** Path of a declaration, refused where a server could read another path in it: as paths of requests are. */
const noOtherPath = [
  (path: string) => checkRequestTarget(path).ok,
  'must not hold dot segments or encoded separators',
] as const;

/** `METHOD:/path` or a path ending in `/*` (specification 2.8). */
export const publicEndpoint = z
  .string()
  .max(512)
  .regex(
    /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|WS):\/[\w\-.~!$&'()+,;=:@%/]*\*?$/,
    'must look like GET:/path or POST:/hooks/*',
  )
  .refine((value) => noOtherPath[0](pathOf(value)), noOtherPath[1])
  .refine((value) => !pathOf(value).includes('//'), 'must not hold //')
  .refine((value) => !value.includes('*') || value.endsWith('/*'), 'may hold `*` only as a last segment');

function pathOf(endpoint: string): string {
  return endpoint.slice(endpoint.indexOf(':') + 1);
}

const shortName = [
  /^[a-z][a-z0-9-]{0,31}$/,
  'must be 1 to 32 lower-case letters, digits and hyphens, and start with a letter',
] as const;

export const publicPort = z.strictObject({
  name: z.string().regex(...shortName),
  protocol: z.literal('udp'),
  /** `auto`: the Runtime chooses, and the workload finds the number in PLATFORM_PUBLIC_PORTS_JSON. */
  containerPort: z.union([portNumber, z.literal('auto')]),
});
export type PublicPort = z.infer<typeof publicPort>;
/** What `publicPorts` of one manifest may hold. */
export const mostPublicPorts = 16;

export const slotName = z.string().regex(/^[a-z][a-z0-9-]{0,63}$/, 'must be the name of a secret slot');

/** Where an app may send a secret of its owner's, whose value it never sees (contract 4b). */
export const secretSlot = z.strictObject({
  name: slotName,
  origin: z
    .string()
    .max(grants.limits.grantResourceLength.value)
    .refine(isSourceOrigin, 'must be a bare https origin such as https://api.example.com, in lower case'),
  pathPrefix: z
    .string()
    .max(512)
    .regex(/^\/[\w\-.~!$&'()*+,;=:@%/]*$/, 'must be a path such as /v1')
    .refine(...noOtherPath)
    .refine((path) => !path.includes('//'), 'must not hold //'),
  methods: z
    .array(z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']))
    .min(1)
    .max(6),
});
export type SecretSlot = z.infer<typeof secretSlot>;

/** `unlisted`: installed by its id. `private`: for the account that published it. */
export const visibilities = ['public', 'unlisted', 'private'] as const;

/** Ids by which an app would speak for the platform (docs/decisions/names.md). */
const SPEAKING_FOR_THE_PLATFORM: ReadonlySet<string> = new Set([
  ...[
    'admin',
    'core',
    'gateway',
    'official',
    'operator',
    'root',
    'security',
    'shell',
    'staff',
    'support',
    'system',
    'verified',
  ],
]);

export const manifest = z
  .strictObject({
    /** For editors (manifest-schema.ts). */
    $schema: z
      .string()
      .max(512)
      .regex(...readableLine)
      .optional(),
    schemaVersion: z.int().min(1).max(9),
    id: appId
      .refine((id) => !id.startsWith('platform'), 'must not begin with "platform"')
      .refine((id) => !SPEAKING_FOR_THE_PLATFORM.has(id), 'is reserved'),
    version,
    name: z
      .string()
      .trim()
      .min(1)
      .max(common.limits.appName.value)
      .regex(...readableLine)
      .regex(...visible)
      .refine(...nothingHidden)
      .refine(...unmixedWords),
    summary: z
      .string()
      .trim()
      .min(1)
      .max(200)
      .regex(...readableLine)
      .regex(...visible),
    /** What is new in this version, in plain text. */
    changes: readableText(limits.changesLength.value)
      .trim()
      .min(1)
      .regex(...visible)
      .optional(),
    /**
     * Who finds the app in the Store; what the newest version says holds for the app. A version that says `private` is in
     * any case for its publisher alone.
     */
    visibility: z.enum(visibilities).optional(),
    /** A file below `frontend/`. */
    icon: packagePath.optional(),
    /** PNG, JPEG or WebP files below `frontend/`, in the order in which the Store shows them. */
    screenshots: z
      .array(packagePath)
      .max(limits.screenshots.value)
      .refine(
        unique((path: string) => path),
        'must not repeat',
      )
      .optional(),
    categories: z
      .array(z.string().regex(...shortName))
      .max(5)
      .optional(),
    systemRoles: z
      .array(z.string().regex(/^[a-z][a-z0-9.-]{0,63}$/, 'must be a role such as schedules.manager-ui'))
      .max(8)
      .optional(),
    frontend: frontendSchema.optional(),
    workload: workload.optional(),
    /** Those of one id count as one. */
    permissions: z.array(requestedGrant).max(grants.limits.grantsPerInstallation.value).default([]),
    publicEndpoints: z
      .array(publicEndpoint)
      .max(64)
      .refine(
        unique((entry: string) => entry),
        'must not repeat',
      )
      .optional(),
    publicPorts: z
      .array(publicPort)
      .max(mostPublicPorts)
      .refine(
        unique(({ name }: { name: string }) => name),
        'must have distinct names',
      )
      .optional(),
    secretSlots: z
      .array(secretSlot)
      .max(16)
      .refine(
        unique(({ name }: { name: string }) => name),
        'must have distinct names',
      )
      .optional(),
  })
  .superRefine((value, context) => {
    if (value.frontend === undefined && value.workload === undefined)
      context.addIssue({ code: 'custom', path: [], message: 'must declare a frontend, a workload or both' });
    checkPermissions(value, grants.limits.grantResources.value, context);
    // Checked at publishing only: nodes read the rest of `workload` out of assignments, also of older packages.
    if (!readableLine[0].test(value.workload?.image ?? ''))
      context.addIssue({ code: 'custom', path: ['workload', 'image'], message: readableLine[1] });
    if (value.workload?.runtime === 'agent' && !value.permissions.some(({ id }) => id === 'intelligence.use'))
      context.addIssue({
        code: 'custom',
        path: ['permissions'],
        message: 'must ask for intelligence.use, since workload.runtime is "agent": its model answers through it',
      });
    if (value.icon !== undefined && value.frontend === undefined)
      context.addIssue({ code: 'custom', path: ['icon'], message: 'needs a frontend' });
    if ((value.screenshots ?? []).length > 0 && value.frontend === undefined)
      context.addIssue({ code: 'custom', path: ['screenshots'], message: 'need a frontend' });
    if (value.publicPorts !== undefined && value.schemaVersion < 4)
      context.addIssue({ code: 'custom', path: ['publicPorts'], message: 'needs schemaVersion 4 or later' });
    if (value.workload?.runtime === 'agent') {
      for (const member of ['publicEndpoints', 'publicPorts'] as const) {
        if (value[member] !== undefined && value[member].length > 0)
          context.addIssue({
            code: 'custom',
            path: [member],
            message: 'is not for agents: one answers its own person alone',
          });
      }
    }
    if (value.workload === undefined) {
      for (const member of ['publicEndpoints', 'publicPorts', 'secretSlots'] as const) {
        if (value[member] !== undefined && value[member].length > 0)
          context.addIssue({ code: 'custom', path: [member], message: 'needs a workload' });
      }
    }
  })
  .overwrite((value) => ({
    ...value,
    permissions: mergeRequests(value.permissions),
    // The conversations of an agent are there. Of what is assigned, core decides: its owner may not have granted a volume yet.
    ...(value.workload?.runtime === 'agent' ? { workload: { ...value.workload, volume: true } } : {}),
  }));
export type Manifest = z.infer<typeof manifest>;

export const packages = { limits } as const;
