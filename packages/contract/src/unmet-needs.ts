// What of an app cannot work for an account of this platform: the one function that decides it, for the Store, for reviews
// and for the command line.
import type { CatalogDetail } from './domains/catalog.ts';
import type { MachineGift, Offers, UnmetNeed } from './domains/offers.ts';
import { processorNames } from './executable.ts';
import type { PermissionId } from './permissions.ts';
import { MiB, sizeText } from './sizes.ts';

/** What it is decided from, of a version as the catalog has it. */
export type AppNeeds = Pick<CatalogDetail, 'permissions' | 'resources' | 'backend' | 'publicRoutes'>;

type Machine = Offers['machines'][number];

/** The gravest first. Empty when everything can work, as far as the platform knows. */
export function unmetNeeds(app: AppNeeds, offers: Offers): UnmetNeed[] {
  const wants = new Map(app.permissions.map(({ id, resources }) => [id, resources]));
  const needs = [
    ...backendNeeds(app, offers),
    ...aiNeeds(wants.get('intelligence.use') ?? [], offers),
    ...storageNeeds(wants, offers),
    ...addressNeeds(app, wants, offers),
    ...(['endpoints.public.udp', 'runtime.network-tunnel', 'network.public'] as const).flatMap((id) =>
      wants.has(id) ? giftNeeds(id, wants.get(id)?.length ?? 0, { app, offers }) : [],
    ),
  ];
  return [...needs.filter(({ kind }) => kind === 'blocks'), ...needs.filter(({ kind }) => kind === 'lacks')];
}

const ASK = 'The operator of this platform can change that.';

interface Step {
  /** What the operator does. */
  readonly operator: string;
  readonly command?: string;
}

function need(
  kind: UnmetNeed['kind'],
  text: string,
  offers: Pick<Offers, 'operator'>,
  { operator, command }: Step,
): UnmetNeed {
  if (!offers.operator) return { kind, text, next: ASK };
  return { kind, text, next: operator, ...(command === undefined ? {} : { command }) };
}

function backendNeeds({ backend, resources }: AppNeeds, offers: Offers): UnmetNeed[] {
  if (backend === null || resources === null) return [];
  if (offers.paused)
    return [
      { kind: 'lacks', text: 'Your apps are paused: its backend does not run.', next: 'Resume your apps to use it.' },
    ];
  if (offers.backends === 'none')
    return [
      need('blocks', 'It needs a backend, and this platform has no machine that runs backends.', offers, {
        operator: 'Let this machine run backends, or add another one: docs/operations/nodes.md.',
        command: './platform node token',
      }),
    ];
  if (offers.backends === 'closed')
    return [
      need('blocks', 'It needs a backend, and no machine takes new backends now.', offers, {
        operator: 'See which machines are cordoned or lost.',
        command: './platform node list',
      }),
    ];
  const able = offers.machines.filter(({ runtimes }) => runtimes.includes(backend.runtime));
  if (able.length === 0) return [noRuntime(backend.runtime, offers)];
  const { processor } = backend;
  const fitting = processor === null ? able : able.filter((machine) => (machine.processor ?? processor) === processor);
  if (processor !== null && fitting.length === 0)
    return [
      need('blocks', `Its backend is compiled for ${processorNames[processor]}, and no machine here has one.`, offers, {
        operator: 'Add a machine with such a processor: docs/operations/nodes.md.',
        command: './platform node token',
      }),
    ];
  return sizeNeeds(resources, fitting, offers);
}

function noRuntime(runtime: NonNullable<AppNeeds['backend']>['runtime'], offers: Offers): UnmetNeed {
  if (runtime === 'oci')
    return need('blocks', 'Its backend is a container image, and no machine of this platform runs those.', offers, {
      operator: 'Run a node with Docker, and restart it.',
      command: 'PLATFORM_RUNTIME_DRIVER=docker',
    });
  const what = { binary: 'an executable', agent: 'an agent', node: 'a script for Node.js' }[runtime];
  return need('blocks', `Its backend is ${what}, and no machine of this platform runs those.`, offers, {
    operator: 'See what keeps your machines from running it.',
    command: './platform doctor',
  });
}

function sizeNeeds(
  { mode, memoryMiB, cpus, diskMiB }: NonNullable<AppNeeds['resources']>,
  machines: readonly Machine[],
  offers: Offers,
): UnmetNeed[] {
  const needs: UnmetNeed[] = [];
  const add = (kind: UnmetNeed['kind'], text: string, operator: string, command?: string) =>
    needs.push(need(kind, text, offers, { operator, ...(command === undefined ? {} : { command }) }));
  const memory = largest(machines, ({ memoryMiB: has }) => has);
  if (memory < memoryMiB)
    add(
      'blocks',
      `It needs ${sizeText(memoryMiB * MiB)} of memory, and the largest machine gives backends ${sizeText(memory * MiB)}.`,
      'Add a larger machine, or give backends more of this one.',
      'PLATFORM_NODE_MEMORY_MIB',
    );
  else if (mode === 'always' && (memory * offers.memoryPercent) / 100 < memoryMiB)
    add(
      'blocks',
      `It runs all the time with ${sizeText(memoryMiB * MiB)} of memory, more than the apps of one account may reserve here.`,
      'Raise the share of an account.',
      'PLATFORM_ACCOUNT_MEMORY_PERCENT',
    );
  const processors = largest(machines, ({ cpus: has }) => has);
  if (processors < cpus)
    add(
      'lacks',
      `It asks for ${cpus} processors, and the largest machine has ${processors}: it runs slower than it is meant to.`,
      'Add a larger machine: docs/operations/nodes.md.',
    );
  const disk = largest(machines, ({ diskMiB: has }) => has);
  if (disk < diskMiB)
    add(
      'blocks',
      `It keeps up to ${sizeText(diskMiB * MiB)} of data, and the disk of the largest machine has room for ${sizeText(disk * MiB)}.`,
      'Make space and restart the platform, which then measures the disk anew, or add a machine with a larger disk.',
      './platform disk',
    );
  else if (offers.diskBytes < diskMiB * MiB)
    needs.push({
      kind: 'blocks',
      text: `It keeps up to ${sizeText(diskMiB * MiB)} of data, and ${sizeText(Math.max(0, offers.diskBytes), Math.floor)} of your storage are left.`,
      next: 'Delete data that you no longer need in Settings → Storage.',
      page: 'storage',
    });
  return needs;
}

/** What is unknown may be enough. */
function largest(machines: readonly Machine[], of: (machine: Machine) => number | null): number {
  return Math.max(...machines.map((machine) => of(machine) ?? Number.POSITIVE_INFINITY));
}

function aiNeeds(patterns: readonly string[], { ai, ...offers }: Offers): UnmetNeed[] {
  if (patterns.length === 0) return [];
  const step = {
    operator:
      'Add a provider in Fleet → Settings, also a free model on this machine: docs/operators.md, “AI providers”.',
    command: 'PLATFORM_INTELLIGENCE_FILE',
  };
  if (ai.length === 0)
    return [need('lacks', 'It uses AI models, and this platform has no AI provider yet.', offers, step)];
  const named = ai.filter(({ provider }) => patterns.some((pattern) => namesProvider(pattern, provider)));
  if (named.length === 0) {
    const wanted = [...new Set(patterns.map((pattern) => pattern.split(':')[0] ?? pattern))].join('” or “');
    return [need('lacks', `It uses AI models of “${wanted}”, which this platform does not offer.`, offers, step)];
  }
  if (named.some(({ ready }) => ready)) return [];
  return [
    {
      kind: 'lacks',
      text: `It uses AI models, and there is no key for ${named.map(({ name }) => name).join(' or ')} yet.`,
      next: 'Add yours in Settings → AI.',
      page: 'ai',
    },
  ];
}

/** As core decides it: a `*` at the end stands for anything. */
function namesProvider(pattern: string, provider: string): boolean {
  const beginning = `${provider}:`;
  return pattern.startsWith(beginning) || (pattern.endsWith('*') && beginning.startsWith(pattern.slice(0, -1)));
}

function storageNeeds(wants: ReadonlyMap<PermissionId, unknown>, offers: Offers): UnmetNeed[] {
  if (!wants.has('object-storage.raw') || offers.objectStorage === 'offered') return [];
  if (offers.objectStorage === 'plan')
    return [
      need('lacks', 'It keeps files in object storage, which your plan does not include.', offers, {
        operator: 'Give the account the paid plan.',
        command: './platform account plan',
      }),
    ];
  return [
    need('lacks', 'It keeps files in object storage, and this platform has none.', offers, {
      operator: 'Configure a store: docs/operators.md, “An object store for apps”.',
      command: 'PLATFORM_OBJECT_STORE_ENDPOINT',
    }),
  ];
}

function addressNeeds(
  { publicRoutes }: AppNeeds,
  wants: ReadonlyMap<PermissionId, unknown>,
  offers: Offers,
): UnmetNeed[] {
  if (publicRoutes.length === 0 || !wants.has('endpoints.public') || offers.publicAddress === 'offered') return [];
  const step = { operator: 'Set up a domain: docs/operations/public.md.', command: 'PLATFORM_INGRESS_DOMAIN' };
  return [
    offers.publicAddress === 'none'
      ? need(
          'lacks',
          'It wants to answer requests from the internet, and this platform has no addresses for apps.',
          offers,
          step,
        )
      : need(
          'lacks',
          'It wants to answer requests from the internet, and its address works on this machine only.',
          offers,
          step,
        ),
  ];
}

interface GiftNeed {
  readonly gift: MachineGift;
  readonly text: string;
  readonly step: Step;
}

const GIFTS = {
  'endpoints.public.udp': {
    gift: 'udp',
    text: 'It wants UDP ports on the internet, and no machine of this platform opens any.',
    step: { operator: 'Give a node a range of ports, and restart it.', command: 'PLATFORM_UDP_PORT_RANGE=40000-40999' },
  },
  'runtime.network-tunnel': {
    gift: 'tunnel',
    text: 'It wants a network tunnel device, and no machine of this platform has one to give.',
    step: {
      operator: 'Run a node with Docker and /dev/net/tun, and restart it.',
      command: 'PLATFORM_RUNTIME_DRIVER=docker',
    },
  },
  'network.public': {
    gift: 'internet',
    text: 'It wants to connect to any address on the internet, and no machine of this platform lets backends do that.',
    step: { operator: 'See what is missing on your machines.', command: './platform doctor' },
  },
} as const satisfies Partial<Record<PermissionId, GiftNeed>>;

function giftNeeds(
  id: keyof typeof GIFTS,
  many: number,
  { app: { backend }, offers }: { readonly app: AppNeeds; readonly offers: Offers },
): UnmetNeed[] {
  if (backend === null) return [];
  const { gift, text, step } = GIFTS[id];
  const able = offers.machines.filter(({ runtimes }) => runtimes.includes(backend.runtime));
  // Where none runs it, that is said instead.
  const isGiven = able.length === 0 || able.some(({ gives }) => gives === null || gives.includes(gift));
  if (!isGiven) return [need('lacks', text, offers, step)];
  if (gift === 'udp' && many > offers.udpPorts)
    return [
      need(
        'blocks',
        `It wants ${many} UDP ports on the internet, and the apps of one account may have ${offers.udpPorts}.`,
        offers,
        {
          operator: 'Raise the number of ports of an account.',
          command: 'PLATFORM_ACCOUNT_UDP_PORTS',
        },
      ),
    ];
  return [];
}
