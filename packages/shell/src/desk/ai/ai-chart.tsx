// This month's tokens: a bar for each app, made of its models, and the same as a table with what it cost.
import { type AppUse, COLOURS, labelOf, modelsOf, partsOf, shortCost, sumOf, tokens } from './ai-words.ts';

export function UseChart({ apps }: { readonly apps: readonly AppUse[] }) {
  const models = modelsOf(apps);
  const used = apps.map((app) => ({ ...app, amount: sumOf(app.models) })).filter(({ amount }) => amount > 0);
  const most = Math.max(1, ...used.map(({ amount }) => amount));
  return (
    <div class="ai-chart" aria-hidden="true">
      {used.map((app) => (
        <div key={app.appId} class="ai-line">
          <span class="ai-name">{app.name}</span>
          <span class="ai-bar">
            {partsOf(app, models).map(({ label, tokens: part, colour }) => (
              <span
                key={label}
                class={`model-${colour}`}
                title={`${label}: ${tokens(part)}`}
                style={{ inlineSize: `${(100 * part) / most}%` }}
              />
            ))}
          </span>
          <span class="ai-amount">{tokens(app.amount)}</span>
        </div>
      ))}
      <p class="ai-models">
        {models.slice(0, COLOURS).map((label, colour) => (
          <span key={label}>
            <i class={`model-${colour}`} />
            {label}
          </span>
        ))}
        {models.length > COLOURS && (
          <span>
            <i class={`model-${COLOURS}`} />
            other models
          </span>
        )}
      </p>
    </div>
  );
}

interface UseTableProps {
  readonly apps: readonly AppUse[];
  readonly currency: string;
}

/** Everything that the chart shows and more; closed until somebody wants the figures. */
export function UseTable({ apps, currency }: UseTableProps) {
  const used = apps.filter(({ models }) => models.length > 0);
  if (used.length === 0) return null;
  return (
    <details class="narrower">
      <summary>Figures by model</summary>
      <section
        class="ai-table"
        aria-label="Figures by model"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard.
        tabIndex={0}
      >
        <table>
          <thead>
            <tr>
              <th scope="col">Model</th>
              <th scope="col">Calls</th>
              <th scope="col">Input</th>
              <th scope="col">Output</th>
              <th scope="col">Cost</th>
            </tr>
          </thead>
          {used.map(({ appId, name, models }) => (
            <tbody key={appId}>
              {apps.length > 1 && (
                <tr>
                  <th scope="rowgroup" colSpan={3}>
                    {name}
                  </th>
                  <td colSpan={2}>{shortCost(models, currency)}</td>
                </tr>
              )}
              {models.map((use) => (
                <tr key={`${use.provider} ${use.model}`}>
                  <th scope="row">
                    {labelOf(use)}
                    {use.model !== '' && <span class="ai-provider"> {use.provider}</span>}
                  </th>
                  <td>{use.requests.toLocaleString('en')}</td>
                  <td>{use.inputTokens.toLocaleString('en')}</td>
                  <td>{use.outputTokens.toLocaleString('en')}</td>
                  <td>{shortCost([use], currency)}</td>
                </tr>
              ))}
            </tbody>
          ))}
        </table>
      </section>
    </details>
  );
}
