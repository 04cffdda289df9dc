// How the parts lie: where browsers reach the backends of each node, and which labels keep nodes apart.
import type { SystemInventory } from '@platform/sdk/browser';
import { Facts, Section, Table } from './parts.tsx';
import { figure } from './words.ts';

export function Topology({ value }: { readonly value: SystemInventory['topology'] }) {
  return (
    <Section id="topology" title="Topology">
      <div class="card">
        <Facts
          items={[
            ['Shell and API', value.origin],
            ['Frontends of apps', `*.${value.appsDomain}`],
          ]}
        />
      </div>
      {value.endpoints.length > 0 && (
        <Table
          caption="Where backends are reached"
          head={['Node', 'Reached at', 'Volumes']}
          rows={value.endpoints.map(({ node, origin, sharesVolumes }) => ({
            key: node,
            cells: [node, origin ?? 'not registered yet', sharesVolumes ? 'shared between nodes' : 'on the node'],
          }))}
        />
      )}
      {value.labels.length > 0 && (
        <Table
          caption="Labels of nodes"
          head={['Label', 'Nodes', 'Reserved']}
          figures={[1]}
          rows={value.labels.map(({ label, nodes, reserved }) => ({
            key: label,
            cells: [label, figure(nodes), reserved ? 'for backends that require it' : 'no'],
          }))}
        />
      )}
    </Section>
  );
}
