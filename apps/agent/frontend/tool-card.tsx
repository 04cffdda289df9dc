// A call of a tool: what it is in plain words, and folded what was sent and answered. What an app answered is marked as its words.
import type { App } from '@platform/sdk/browser';
import { argumentsInWords, beginningOf } from '@platform/shell/argument-words';
import { useState } from 'preact/hooks';
import { Failure } from '../../shared/failure.tsx';
import { messageOf } from '../../shared/use-loaded.ts';
import { ProposalLine } from './proposal-line.tsx';
import type { ToolItem } from './thread.ts';
import { Speaker, ToolWords } from './tool-words.tsx';
import { type KnownTools, toolInWords, WEB_SEARCH } from './words.ts';

interface ToolCardProps {
  readonly app: App;
  readonly item: ToolItem;
  readonly tools: KnownTools;
}

export function ToolCard({ app, item, tools }: ToolCardProps) {
  const { tool, given, result, proposal, query } = item;
  const words = toolInWords(tool, tools);
  const asks = query !== undefined && result === undefined && !item.isOver;
  return (
    <article class="card tool" aria-label={words}>
      <details>
        <summary>
          <span class="tool-name">
            <ToolWords tool={tool} tools={tools} />
          </span>
          {proposal === undefined && <State item={item} asks={asks} />}
        </summary>
        <h3>With</h3>
        <Given given={given} />
        {result !== undefined && (
          <>
            <h3>Result</h3>
            <p class="quiet small">
              <Speaker tool={tool} tools={tools} />
            </p>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard. */}
            <pre class="foreign" dir="auto" tabIndex={0}>
              {result.text === '' ? 'Nothing.' : result.text}
            </pre>
            {result.cut && <p class="quiet small">The rest was left out.</p>}
          </>
        )}
        {tool !== WEB_SEARCH && (
          <p class="quiet small">
            The tool is <code>{tool}</code>.
          </p>
        )}
      </details>
      {tool === WEB_SEARCH && query !== undefined && (
        <p class="query" dir="auto">
          “{query}”
        </p>
      )}
      {asks && (
        <p class="small" role="status">
          The platform asks you whether it may search for this. Only your answer there counts; without one within five
          minutes nothing is searched.
        </p>
      )}
      {proposal !== undefined && <ProposalLine app={app} proposal={proposal} />}
      {result?.draft !== undefined && <DraftLine app={app} draft={result.draft} />}
    </article>
  );
}

function State({ item: { tool, result, isOver }, asks }: { readonly item: ToolItem; readonly asks: boolean }) {
  // What the person declined is no failure; the result says which it was.
  if (tool === WEB_SEARCH && result?.isError === true) return <span class="badge">Not searched</span>;
  if (asks) return <span class="badge warn">Asks you</span>;
  if (result === undefined) return <span class="badge">{isOver ? 'No result' : 'At work…'}</span>;
  return result.isError ? <span class="badge danger">Failed</span> : <span class="badge good">Done</span>;
}

function Given({ given }: { readonly given: unknown }) {
  const all = argumentsInWords(isRecord(given) ? given : { Everything: given ?? null });
  if (all.length === 0) return <p class="quiet small">Without any details.</p>;
  return (
    <dl class="given">
      {all.map(({ name, text, isText, isLong }, index) => (
        <div key={`${index} ${name}`}>
          <dt>{name}</dt>
          <dd dir="auto">
            {isLong ? (
              <details>
                <summary>
                  {beginningOf(text)} <span class="quiet">All {text.length.toLocaleString('en')} characters</span>
                </summary>
                <pre>{text}</pre>
              </details>
            ) : isText ? (
              <p class="words">{text}</p>
            ) : (
              <pre>{text}</pre>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type Draft = NonNullable<NonNullable<ToolItem['result']>['draft']>;

/** An app that the agent made: nothing of it is installed before its person accepts it in the shell. */
function DraftLine({ app, draft }: { readonly app: App; readonly draft: Draft }) {
  const [problem, setProblem] = useState<string>();
  const [isAccepted, setAccepted] = useState(false);
  async function review(): Promise<void> {
    setProblem(undefined);
    try {
      setAccepted(await app.apps.create(draft.id));
    } catch (error) {
      setProblem(messageOf(error));
    }
  }
  return (
    <div class="decision">
      <p>
        {isAccepted
          ? 'You accepted this app.'
          : 'It prepared an app for you. Nothing is installed until you have reviewed and accepted it.'}
      </p>
      {!isAccepted && (
        <button type="button" class="primary" onClick={() => void review()}>
          Open the review
        </button>
      )}
      <Failure text={problem} />
    </div>
  );
}
