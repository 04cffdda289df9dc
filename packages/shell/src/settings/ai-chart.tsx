// This month's tokens: a bar for each app, made of its models, and the same as a table.
import { type AppUse, COLOURS, labelOf, modelsOf, partsOf, tokens, tokensOf } from './ai-words.ts';

export function UseChart({ apps }: { readonly apps: readonly AppUse[] }) {
  const models = modelsOf(apps);
  const used = apps
    .filter(({ intelligence }) => intelligence.usage.tokens > 0)
    .sort((one, other) => other.intelligence.usage.tokens - one.intelligence.usage.tokens);
  const most = Math.max(1, ...used.map(({ intelligence }) => intelligence.usage.tokens));
  return (
    <div class="ai-chart" aria-hidden="true">
      {used.map((app) => (
        <div key={app.appId} class="ai-line">
          <span class="ai-name">{app.name}</span>
          <span class="ai-bar">
            {partsOf(app, models).map(({ label, tokens: amount, colour }) => (
              <span
                key={label}
                class={`model-${colour}`}
                title={`${label}: ${tokens(amount)}`}
                style={{ inlineSize: `${(100 * amount) / most}%` }}
              />
            ))}
          </span>
          <span class="ai-amount">{tokens(app.intelligence.usage.tokens)}</span>
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

/** Everything that the chart shows and more; closed until somebody wants the figures. */
export function UseTable({ apps }: { readonly apps: readonly AppUse[] }) {
  const used = apps.filter(({ intelligence }) => intelligence.usage.models.length > 0);
  if (used.length === 0) return null;
  return (
    <details class="narrower">
      <summary>Figures by model</summary>
      <section class="ai-table" aria-label="Figures by model">
        <table>
          <thead>
            <tr>
              <th scope="col">Model</th>
              <th scope="col">Calls</th>
              <th scope="col">Input</th>
              <th scope="col">Output</th>
              <th scope="col">Tokens</th>
            </tr>
          </thead>
          {used.map((app) => (
            <tbody key={app.appId}>
              {apps.length > 1 && (
                <tr>
                  <th scope="rowgroup" colSpan={5}>
                    {app.name}
                  </th>
                </tr>
              )}
              {app.intelligence.usage.models.map((use) => (
                <tr key={`${use.provider} ${use.model}`}>
                  <th scope="row">
                    {labelOf(use)}
                    {use.model !== '' && <span class="ai-provider"> {use.provider}</span>}
                  </th>
                  <td>{use.requests.toLocaleString('en')}</td>
                  <td>{use.inputTokens.toLocaleString('en')}</td>
                  <td>{use.outputTokens.toLocaleString('en')}</td>
                  <td>{tokensOf(use).toLocaleString('en')}</td>
                </tr>
              ))}
            </tbody>
          ))}
        </table>
      </section>
    </details>
  );
}
