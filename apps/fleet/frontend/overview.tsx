// The whole platform on one page, read anew every ten seconds while it is seen.
import type { App, SystemInventory } from '@platform/sdk/browser';
import { useEffect } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import { useLoaded } from '../../shared/use-loaded.ts';
import { Accounts } from './accounts.tsx';
import { Installations } from './installations.tsx';
import { Capacity, Nodes } from './machines.tsx';
import { Topology } from './topology.tsx';
import { Traffic } from './traffic.tsx';
import { Usage } from './usage.tsx';

const REFRESH_MILLISECONDS = 10_000;

export function Overview({ app }: { readonly app: App }) {
  const { value, failure, reload } = useLoaded(app, () => app.system());
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void reload();
    }, REFRESH_MILLISECONDS);
    return () => clearInterval(timer);
  }, [reload]);
  return (
    <>
      <p class="quiet">
        {value === undefined ? 'The whole platform.' : `${value.topology.origin}, version ${value.topology.version}`}
      </p>
      <Failure text={failure} />
      {value !== undefined && <Inventory value={value} />}
    </>
  );
}

function Inventory({ value }: { readonly value: SystemInventory }) {
  return (
    <>
      {value.topology.clock !== null && <Failure text={value.topology.clock} />}
      <Nodes value={value.nodes} />
      <div class="columns">
        <Capacity value={value.capacity} />
        <Accounts value={value.accounts} />
      </div>
      <Traffic value={value.traffic} />
      <Installations value={value.installations} />
      <Topology value={value.topology} />
      <Usage value={value.usage} />
    </>
  );
}
