// How many accounts there are, and how many came in the last thirty days.
import type { SystemInventory } from '@platform/sdk/browser';
import { Sparkline } from '@platform/shell/sparkline';
import { Facts, Section } from './parts.tsx';
import { counted, figure, sum } from './words.ts';

export function Accounts({ value }: { readonly value: SystemInventory['accounts'] }) {
  const fresh = sum(value.registered);
  return (
    <Section id="accounts" title="Accounts">
      <div class="card stack">
        <Facts
          items={[
            ['Accounts', figure(value.total)],
            ['Used in the last 30 days', figure(value.active)],
            ['Signed in', counted(value.sessions, 'browser')],
            ['Paused by their owners', figure(value.paused)],
            ['Suspended', figure(value.suspended)],
          ]}
        />
        <div>
          <p class="small">{figure(fresh)} new in the last 30 days</p>
          <Sparkline
            values={value.registered}
            places={value.registered.length}
            top={4}
            label={`New accounts of the last 30 days: ${fresh}, today ${value.registered.at(-1) ?? 0}`}
          />
        </div>
      </div>
    </Section>
  );
}
