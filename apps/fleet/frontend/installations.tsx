// Installed apps: the states of their backends, and which are installed most.
import type { SystemInventory } from '@platform/sdk/browser';
import { Bar, Section, Table } from './parts.tsx';
import { figure } from './words.ts';

const STATES = [
  ['running', 'running'],
  ['starting', 'starting'],
  ['stopped', 'asleep or stopped'],
  ['failed', 'failed'],
  ['unknown', 'not reported yet'],
] as const;

export function Installations({ value }: { readonly value: SystemInventory['installations'] }) {
  const most = Math.max(1, ...value.largest.map(({ installations }) => installations));
  return (
    <Section id="installations" title={`Installations (${figure(value.total)})`}>
      <ul class="plain row states">
        {STATES.filter(([state]) => value.states[state] > 0).map(([state, words]) => (
          <li key={state} class={state === 'failed' ? 'badge danger' : 'badge'}>
            {figure(value.states[state])} {words}
          </li>
        ))}
      </ul>
      <Table
        caption="Apps with the most installations"
        head={['App', 'Installations', 'Running', 'Failed']}
        figures={[1, 2, 3]}
        rows={value.largest.map((app) => ({
          key: app.appId,
          cells: [
            app.name,
            <>
              {figure(app.installations)}
              <Bar value={app.installations} of={most} />
            </>,
            figure(app.running),
            figure(app.failed),
          ],
        }))}
      />
      {value.apps > value.largest.length && (
        <p class="quiet small">{figure(value.apps - value.largest.length)} more apps are not shown.</p>
      )}
    </Section>
  );
}
