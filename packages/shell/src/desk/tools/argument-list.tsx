// The arguments of a call, whole: long ones are folded, none is cut.
import { argumentsInWords, beginningOf } from './proposal-words.ts';

export function ArgumentList({ given }: { readonly given: Readonly<Record<string, unknown>> }) {
  const all = argumentsInWords(given);
  if (all.length === 0) return <p class="quiet-text">Without any details.</p>;
  return (
    <dl class="tool-arguments">
      {all.map(({ name, text, isText, isLong }, index) => {
        const value = isText ? <p class="tool-words">{text}</p> : <pre>{text}</pre>;
        return (
          <div key={`${index} ${name}`}>
            <dt>{name}</dt>
            <dd>
              {isLong ? (
                <details>
                  <summary>
                    <span class="tool-beginning">{beginningOf(text)}</span>{' '}
                    <span class="tool-length">All {text.length.toLocaleString('en')} characters</span>
                  </summary>
                  {value}
                </details>
              ) : (
                value
              )}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}
