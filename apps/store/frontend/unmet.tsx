// What of an app cannot work here, before anybody presses Install.
import type { AppDetails } from '@platform/sdk/browser';

export function Unmet({ detail: { name, unmet, installed } }: { readonly detail: AppDetails }) {
  if (unmet.length === 0) return null;
  // Said once, below.
  const shared = unmet.map(({ next }) => next).find((next, index, all) => all.indexOf(next) !== index);
  const blocked = installed === null && unmet.some(({ kind }) => kind === 'blocks');
  return (
    <section class="card unmet" aria-labelledby="unmet-title">
      <h2 id="unmet-title">{blocked ? `${name} can’t be installed here` : 'Not everything will work here'}</h2>
      <ul>
        {unmet.map(({ text, next, command }) => (
          <li key={text}>
            {text} {next !== shared && <span class="quiet">{next}</span>}
            {command !== undefined && <code class="command">{command}</code>}
          </li>
        ))}
      </ul>
      {shared !== undefined && <p class="quiet">{shared}</p>}
    </section>
  );
}
