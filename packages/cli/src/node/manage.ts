// The operator's side of nodes, on the machine of core: beside a running platform or without one.

import { parseArgs } from 'node:util';
import { MiB, sizeText } from '@platform/contract/sizes';
import {
  type CoreContext,
  cordonNode,
  createAdoptionToken,
  createNodeToken,
  drainNode,
  listNodes,
  type NodeRow,
  removeNode,
  uncordonNode,
} from '@platform/core/operator';
import { UsageError } from '../command.ts';
import { platformConfiguration } from '../local/configuration.ts';
import { withLocalCore } from '../local/local-core.ts';
import { sayToken } from '../members/say-token.ts';
import { sayTable } from '../terminal/say-table.ts';
import { say, sayJson } from '../terminal/terminal.ts';
import { requireLabel } from './rules.ts';

export async function printToken(args: readonly string[]): Promise<number> {
  const { values } = parse(args, { label: { type: 'string', multiple: true } }, 0);
  const labels = Array.isArray(values.label) ? values.label.map(String) : [];
  labels.forEach(requireLabel);
  if (labels.includes('platform-hosted') && labels.includes('self-hosted'))
    throw new UsageError('A node is either platform-hosted or self-hosted.');
  const config = platformConfiguration();
  sayToken('node', config, await withLocalCore(config, (context) => createNodeToken(context, labels)));
  return 0;
}

export async function adopt(args: readonly string[]): Promise<number> {
  const name = nameOf(args);
  const config = platformConfiguration();
  sayToken('node', config, await withLocalCore(config, (context) => createAdoptionToken(context, name)), name);
  return 0;
}

export async function list(args: readonly string[]): Promise<number> {
  const { values } = parse(args, { json: { type: 'boolean' } }, 0);
  const rows = await withLocalCore(platformConfiguration(), (context) => listNodes(context));
  if (values.json === true) {
    sayJson({ items: rows.map(listed) }, 2);
    return 0;
  }
  if (rows.length === 0) {
    say('No nodes. Backends cannot run until a node joins: ./platform node token');
    return 0;
  }
  sayTable(HEADINGS, rows.map(cells));
  return 0;
}

/** For programs. Memory and disk in MiB. */
function listed(row: NodeRow) {
  return {
    name: row.name,
    state: row.state,
    isBesideCore: row.local,
    seenAt: row.seen_at?.toISOString() ?? null,
    memoryMib: row.memory_mib,
    memoryReservedMib: row.reserved_mib,
    diskMib: row.disk_mib,
    diskReservedMib: row.disk_promised_mib,
    isDiskFull: row.disk_full,
    cpus: row.cpus,
    apps: row.apps,
    running: row.running,
    carrier: row.carrier,
    driver: row.driver,
    mechanism: row.mechanism,
    version: row.version,
    labels: row.labels,
    reservedLabels: row.reserved,
  };
}

const HEADINGS = ['NAME', 'STATE', 'SEEN', 'MEMORY', 'DISK', 'CPUS', 'APPS', 'LINK', 'DRIVER', 'VERSION', 'LABELS'];

function cells(row: NodeRow): string[] {
  return [
    row.name,
    row.state,
    row.seen_at === null ? 'never' : row.seen_at.toISOString(),
    share(row.reserved_mib, row.memory_mib),
    `${share(row.disk_promised_mib, row.disk_mib)}${row.disk_full ? ' (full)' : ''}`,
    row.cpus === null ? '?' : String(row.cpus),
    `${row.running} of ${row.apps} run`,
    row.carrier === 'tls' ? 'tls, direct' : (row.carrier ?? '-'),
    row.driver === null ? '?' : `${row.driver} (${row.mechanism ?? '?'})`,
    row.version ?? '?',
    row.labels.map((label) => (row.reserved.includes(label) ? `${label} (reserved)` : label)).join(', '),
  ];
}

export async function cordon(args: readonly string[]): Promise<number> {
  const name = nameOf(args);
  await withLocalCore(platformConfiguration(), (context) => cordonNode(context, name));
  say(`${name} is cordoned: no new backends are placed there. Running ones continue.`);
  return 0;
}

export async function uncordon(args: readonly string[]): Promise<number> {
  const name = nameOf(args);
  await withLocalCore(platformConfiguration(), (context) => uncordonNode(context, name));
  say(`${name} takes new apps again.`);
  return 0;
}

/** Exit code 3 says that something is left on the node. */
export async function drain(args: readonly string[]): Promise<number> {
  const name = nameOf(args);
  const { moved, waiting, bound } = await withLocalCore(platformConfiguration(), (context) => drainNode(context, name));
  say(`${counted(moved, 'app was', 'apps were')} taken from ${name}; nothing new is placed there.`);
  if (waiting.length > 0)
    say(
      `${counted(waiting.length, 'waits', 'wait')} for a node: ${waiting.join(', ')}. They move once a node has room and ${name} has stopped them.`,
    );
  for (const { account, appId } of bound)
    say(`${appId} of ${account} stays: its volume lies on ${name} and cannot be moved.`);
  return bound.length > 0 ? 3 : 0;
}

export async function remove(args: readonly string[]): Promise<number> {
  const { values, positionals } = parse(args, { 'abandon-volumes': { type: 'boolean' } }, 1);
  const [name = ''] = positionals;
  const what = values['abandon-volumes'] === true ? 'with-volumes' : 'empty';
  await withLocalCore(platformConfiguration(), (context: CoreContext) => removeNode(context, name, what));
  say(`Removed node ${name}. It will stop its apps.`);
  return 0;
}

function counted(amount: number, one: string, several: string): string {
  return `${amount} ${amount === 1 ? one : several}`;
}

function nameOf(args: readonly string[]): string {
  const { positionals } = parse(args, {}, 1);
  return positionals[0] ?? '';
}

type Options = NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>['options']>;

function parse(args: readonly string[], options: Options, names: 0 | 1): ReturnType<typeof parseArgs> {
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({ args: [...args], options, allowPositionals: names > 0 });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
  if (parsed.positionals.length !== names) throw new UsageError('Name one node; `./platform node list` shows them.');
  return parsed;
}

function share(mebibytes: number, of: number | null): string {
  return `${sizeText(mebibytes * MiB)} of ${of === null ? '?' : sizeText(of * MiB)}`;
}
