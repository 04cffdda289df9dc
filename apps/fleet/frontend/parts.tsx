// What the sections of Fleet are made of: a titled section, a table that is a list of its rows on a phone, facts, and bars.
import type { ComponentChildren } from 'preact';

export function Section({
  id,
  title,
  children,
}: {
  readonly id: string;
  readonly title: string;
  readonly children: ComponentChildren;
}) {
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

type Cell = string | number | ComponentChildren;

interface TableProps {
  /** Read out before the table; the section's title shows the same to who sees it. */
  readonly caption: string;
  readonly head: readonly string[];
  /** The first cell of a row names it. */
  readonly rows: readonly { readonly key: string; readonly cells: readonly Cell[] }[];
  /** Columns of figures, aligned by their digits. */
  readonly figures?: readonly number[];
}

export function Table({ caption, head, rows, figures = [] }: TableProps) {
  const kind = (column: number) => (figures.includes(column) ? 'figure' : undefined);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard
    <section class="card sideways" aria-label={caption} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((title, column) => (
              <th key={title} scope="col" class={kind(column)}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells: [name, ...rest] }) => (
            <tr key={key}>
              <th scope="row">{name}</th>
              {rest.map((cell, index) => (
                <td key={head[index + 1]} class={kind(index + 1)}>
                  <span class="column-name" aria-hidden="true">
                    {head[index + 1]}
                  </span>
                  <div>{cell}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

export function Facts({ items }: { readonly items: readonly (readonly [name: string, value: string])[] }) {
  return (
    <dl class="facts">
      {items.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface BarProps {
  readonly value: number;
  readonly of: number;
  /** From which part on it is drawn as a warning; default never. */
  readonly warnFrom?: number;
}

/** How much of something it is. The words beside it say the same, so it says nothing to a screen reader. */
export function Bar({ value, of, warnFrom = Number.POSITIVE_INFINITY }: BarProps) {
  const share = of <= 0 ? 0 : Math.min(1, value / of);
  return (
    <svg
      class={share >= warnFrom ? 'bar full' : 'bar'}
      viewBox="0 0 100 6"
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <rect class="bar-ground" width="100" height="6" />
      <rect class="bar-value" width={share * 100} height="6" />
    </svg>
  );
}
