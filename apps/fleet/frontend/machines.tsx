// The machines that run backends, what they are busy with, and what they have left together.
import type { SystemInventory } from '@platform/sdk/browser';
import { Bar, Facts, Section, Table } from './parts.tsx';
import { ago, figure, memory } from './words.ts';

type Node = SystemInventory['nodes']['items'][number];

/** Of the memory of a machine, or of all of them. */
const NEARLY_FULL = 0.9;

/** How core reaches a node. */
const LINK = { tls: 'TLS, direct', iroh: 'iroh' } as const;

const MANNER = { ready: 'badge good', cordoned: 'badge warn', joining: 'badge', lost: 'badge danger' } as const;

export function Nodes({ value }: { readonly value: SystemInventory['nodes'] }) {
  const hidden = value.total - value.items.length;
  return (
    <Section id="nodes" title={`Nodes (${figure(value.total)})`}>
      {value.items.length === 0 ? (
        <p>No nodes yet. Add one with “./platform node join”.</p>
      ) : (
        <Table
          caption="Nodes"
          head={[
            'Name',
            'State',
            'Running',
            'Memory reserved',
            'Disk reserved',
            'Load',
            'Memory used',
            'Sandbox',
            'Link',
            'Last seen',
          ]}
          figures={[2, 3, 4, 5, 6]}
          rows={value.items.map((node) => ({ key: node.name, cells: cells(node) }))}
        />
      )}
      {hidden > 0 && <p class="quiet small">{figure(hidden)} more are not shown.</p>}
    </Section>
  );
}

function cells(node: Node) {
  return [
    <>
      {node.name}
      <span class="quiet small labels">{node.labels.join(', ')}</span>
    </>,
    <span key="state" class={MANNER[node.state]}>
      {node.state}
    </span>,
    `${figure(node.running)} of ${figure(node.installations)}`,
    <Share key="placed" value={node.placedMiB} of={node.memoryMiB} />,
    <>
      <Share value={node.diskPromisedMiB} of={node.diskMiB} />
      {node.diskFull && <span class="badge danger">disk full</span>}
    </>,
    node.load === null || node.cpus === null ? '–' : `${figure(node.load.cpus)} of ${figure(node.cpus)}`,
    node.load === null ? '–' : memory(node.load.memoryUsedMiB),
    node.mechanism ?? '–',
    node.carrier === null ? '–' : LINK[node.carrier],
    node.seenAt === null ? 'never' : ago(node.seenAt),
  ];
}

function Share({ value, of }: { readonly value: number; readonly of: number | null }) {
  if (of === null) return <>–</>;
  return (
    <>
      {memory(value)} of {memory(of)}
      <Bar value={value} of={of} warnFrom={NEARLY_FULL} />
    </>
  );
}

export function Capacity({ value }: { readonly value: SystemInventory['capacity'] }) {
  return (
    <Section id="capacity" title="Capacity">
      <div class="card stack">
        <div>
          <p>
            {memory(value.placedMiB)} of {memory(value.memoryMiB)} of memory reserved for backends
          </p>
          <Bar value={value.placedMiB} of={value.memoryMiB} warnFrom={NEARLY_FULL} />
          <p class="quiet small">The limits of all backends together.</p>
        </div>
        <div>
          <p>{memory(value.reservedMiB)} of it for always-on backends</p>
          <Bar value={value.reservedMiB} of={value.memoryMiB} warnFrom={NEARLY_FULL} />
        </div>
        <div>
          <p>
            {memory(value.diskPromisedMiB)} of {memory(value.diskMiB)} of disk reserved for volumes
          </p>
          <Bar value={value.diskPromisedMiB} of={value.diskMiB} warnFrom={NEARLY_FULL} />
          <p class="quiet small">The sizes that apps declare, not what their volumes hold.</p>
        </div>
        <Facts
          items={[
            ['Processors', figure(value.cpus)],
            ['Backends waiting for a node', figure(value.waiting)],
          ]}
        />
      </div>
    </Section>
  );
}
