// What of an app cannot work here, before it is installed and on its page: what, why, and what can be done.
import type { UnmetNeed } from '@platform/contract';
import { addressOf, settingsAt } from '../../address/view.ts';
import { Note } from '../../design/controls.tsx';

interface UnmetListProps {
  readonly name: string;
  readonly needs: readonly UnmetNeed[];
  /** Links lead away from where they are: none in a prompt. */
  readonly linked?: boolean;
}

export function UnmetList({ name, needs, linked = false }: UnmetListProps) {
  if (needs.length === 0) return null;
  // Said once, below.
  const shared = needs.map(({ next }) => next).find((next, index, all) => all.indexOf(next) !== index);
  const blocked = needs.some(({ kind }) => kind === 'blocks');
  return (
    <Note tone="warning">
      <strong>{blocked ? `${name} can’t be installed here` : 'Not everything will work here'}</strong>
      <ul class="unmet">
        {needs.map(({ text, next, command, page }) => (
          <li key={text}>
            {text}{' '}
            {linked && page !== undefined ? (
              <a class="link" href={addressOf(settingsAt(page))}>
                {next}
              </a>
            ) : (
              next !== shared && next
            )}
            {command !== undefined && <code class="unmet-command">{command}</code>}
          </li>
        ))}
      </ul>
      {shared !== undefined && <p>{shared}</p>}
    </Note>
  );
}
