// What a backend may use of its machine, as a list with pictures.
import type { BackendResources } from '@platform/contract';
import { Icon } from '../../design/icons.tsx';
import { resourceLines, shortResources } from './resource-words.ts';

interface ResourceListProps {
  readonly resources: BackendResources;
  /** What was granted up to now; only the lines that go beyond it are shown then. */
  readonly beyond?: BackendResources;
}

export function ResourceList({ resources, beyond }: ResourceListProps) {
  const all = resourceLines(resources, beyond ?? null);
  const lines = beyond === undefined ? all : all.filter(({ more }) => more);
  return (
    <ul class="uses">
      {lines.map(({ name, icon, text, before, large }) => (
        <li key={name} class={large ? 'use-line large' : 'use-line'}>
          <span class="use-picture">
            <Icon name={icon} size={20} />
          </span>
          <span>
            {text}
            {before !== null && <span class="use-before"> ({before})</span>}
            {large && <span class="use-large">More than most apps use</span>}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** The same in a line or two, to be seen at once. */
export function BackendSummary({ resources }: { readonly resources: BackendResources | null }) {
  if (resources === null) return null;
  return (
    <ul class="backend-summary" aria-label="Its backend on the server">
      {shortResources(resources).map(({ name, icon, text, large }) => (
        <li key={name} class={large ? 'large' : undefined}>
          <Icon name={icon} size={16} />
          {text}
        </li>
      ))}
    </ul>
  );
}
