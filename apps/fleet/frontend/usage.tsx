// What is kept, and how much room it takes.
import type { SystemInventory } from '@platform/sdk/browser';
import { Facts, Section } from './parts.tsx';
import { counted, figure, sizeText } from './words.ts';

export function Usage({ value }: { readonly value: SystemInventory['usage'] }) {
  return (
    <Section id="usage" title="Usage">
      <div class="card">
        <Facts
          items={[
            ['Database', sizeText(value.databaseBytes)],
            ['Packages', `${counted(value.packages.versions, 'version')}, ${sizeText(value.packages.bytes)}`],
            ['Volumes of apps', figure(value.volumes)],
            ['Notifications kept', figure(value.notifications)],
            ['Search entries', figure(value.searchEntries)],
            ['Backends kept awake', `by ${counted(value.workLeases, 'lease')}`],
          ]}
        />
      </div>
    </Section>
  );
}
