// What an earlier Runtime of the same data folder left on the engine: running workloads, and incomplete cells to
// remove.
import { readdirSync } from 'node:fs';
import type { Survivor } from '../driver.ts';
import { type CellParts, destroyCell } from './cells.ts';
import { labels, removed } from './engine.ts';

/** Removes everything that is not a running workload in a whole cell, and returns those. */
export async function clearLeftovers(parts: CellParts): Promise<Survivor[]> {
  const { engine, owner } = parts;
  const filters = { label: [`${labels.owner}=${owner}`] };
  const [containers, networks] = await Promise.all([
    engine.listContainers({ all: true, filters }),
    engine.listNetworks({ filters }),
  ]);
  const role = (name: string) => containers.filter(({ Labels }) => Labels[labels.role] === name);
  const aliveGateways = new Set(
    role('gateway').flatMap(({ State, Labels }) => (State === 'running' ? (Labels[labels.cell] ?? []) : [])),
  );
  const survivors: Survivor[] = [];
  const kept = new Set<string>();
  for (const { Id, State, Labels } of role('workload')) {
    const { [labels.cell]: cell, [labels.installation]: installationId, [labels.fingerprint]: fingerprint } = Labels;
    const whole = cell !== undefined && installationId !== undefined && fingerprint !== undefined;
    if (whole && State === 'running' && aliveGateways.has(cell)) {
      survivors.push({ installationId, fingerprint });
      kept.add(cell);
    } else await removed(engine.getContainer(Id).remove({ force: true, v: true }));
  }
  const cells = [
    ...role('gateway').flatMap(({ Labels }) => Labels[labels.cell] ?? []),
    ...networks.flatMap(({ Labels }) => Labels?.[labels.cell] ?? []),
    ...readdirSync(parts.folder),
  ];
  for (const cell of new Set(cells)) if (!kept.has(cell)) await destroyCell(parts, cell);
  await parts.firewall.removeStrayBridges(
    [...kept].flatMap((cell) => [
      parts.firewall.bridgeName('restricted', cell),
      parts.firewall.bridgeName('public', cell),
    ]),
  );
  return survivors;
}

export function workloadName(owner: string, installationId: string): string {
  return `platform-${owner}-${installationId}`;
}

/** Ends the container of an installation, if there is one, and takes its cell apart. */
export async function destroySurvivor(parts: CellParts, { installationId }: { readonly installationId: string }) {
  const name = workloadName(parts.owner, installationId);
  const [known] = await parts.engine.listContainers({
    all: true,
    filters: { name: [`^/${name}$`], label: [`${labels.owner}=${parts.owner}`] },
  });
  if (known === undefined) return;
  const cell = known.Labels[labels.cell];
  if (cell === undefined) await removed(parts.engine.getContainer(known.Id).remove({ force: true, v: true }));
  else await destroyCell(parts, cell);
}
