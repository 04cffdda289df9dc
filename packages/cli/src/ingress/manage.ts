// The operator's side of Ingresses, on the machine of core: beside a running platform or without one.
import { parseArgs } from 'node:util';
import { createIngressToken, type IngressRow, listIngresses, removeIngress } from '@platform/core/operator';
import { UsageError, wantsJson } from '../command.ts';
import { platformConfiguration } from '../local/configuration.ts';
import { withLocalCore } from '../local/local-core.ts';
import { sayToken } from '../members/say-token.ts';
import { sayTable } from '../terminal/say-table.ts';
import { say, sayJson } from '../terminal/terminal.ts';

export async function printToken(args: readonly string[]): Promise<number> {
  parse(args, 0);
  const config = platformConfiguration();
  sayToken('ingress', config, await withLocalCore(config, (context) => createIngressToken(context)));
  return 0;
}

export async function list(args: readonly string[]): Promise<number> {
  const isJson = wantsJson(args, './platform ingress list [--json]');
  const rows = await withLocalCore(platformConfiguration(), (context) => listIngresses(context));
  if (isJson) sayJson({ items: rows.map(listed) }, 2);
  else if (rows.length === 0)
    say(
      'No Ingress, so no app is reachable from the internet. Set PLATFORM_INGRESS_LISTEN, or run ./platform ingress token',
    );
  else sayTable(HEADINGS, rows.map(cells));
  return 0;
}

/** For programs. `missing` counts changes that are not in effect there yet; `null` before the first are. */
function listed({ name, local, online, joinedAt, seenAt, revision, current }: IngressRow) {
  return {
    name,
    isBesideCore: local,
    isOnline: online,
    joinedAt: joinedAt.toISOString(),
    seenAt: seenAt?.toISOString() ?? null,
    missing: revision === null ? null : Number(BigInt(current) - BigInt(revision)),
  };
}

const HEADINGS = ['NAME', 'STATE', 'SEEN', 'CHANGES', 'WHERE'];

function cells({ name, online, seenAt, revision, current, local }: IngressRow): string[] {
  const behind = revision === null ? null : BigInt(current) - BigInt(revision);
  return [
    name,
    online ? 'online' : 'offline',
    seenAt === null ? 'never' : seenAt.toISOString(),
    behind === null ? 'none yet' : behind <= 0n ? 'up to date' : `${behind} behind`,
    local ? 'beside core' : 'joined',
  ];
}

export async function remove(args: readonly string[]): Promise<number> {
  const name = parse(args, 1);
  await withLocalCore(platformConfiguration(), (context) => removeIngress(context, name));
  say(`Removed Ingress ${name}. It takes no more requests.`);
  return 0;
}

/** @returns the name, where one is needed */
function parse(args: readonly string[], names: 0 | 1): string {
  const { positionals } = (() => {
    try {
      return parseArgs({ args: [...args], allowPositionals: names > 0 });
    } catch (error) {
      throw new UsageError(error instanceof Error ? error.message : String(error));
    }
  })();
  if (positionals.length !== names) throw new UsageError('Name one Ingress; `./platform ingress list` shows them.');
  return positionals[0] ?? '';
}
