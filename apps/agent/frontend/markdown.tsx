// What the model wrote, as Markdown. Every token becomes an element made here: no text is ever taken for HTML, no picture is loaded,
// and links show where they lead.

import { visibleText } from '@platform/shell/visible-text';
import { Lexer, type Token, type Tokens } from 'marked';
import type { ComponentChildren, JSX } from 'preact';
import { memo } from 'preact/compat';
import { CodeBlock } from './code-block.tsx';

/** Longer texts are shown as they are: nobody reads them as a page. */
const LONGEST = 100_000;
const DEEPEST = 12;

export const Markdown = memo(({ text }: { readonly text: string }) => {
  const blocks = blocksOf(text);
  if (blocks === undefined) return <p class="words">{text}</p>;
  return (
    <div class="prose" dir="auto">
      {blocks.map((token, index) => (
        <Block key={index} raw={token.raw} token={token} />
      ))}
    </div>
  );
});

function blocksOf(text: string): Token[] | undefined {
  if (text.length > LONGEST) return undefined;
  try {
    return new Lexer({ gfm: true }).lex(text);
  } catch {
    return undefined; // nested so deep that it cannot be read
  }
}

/** While an answer grows, only its last block is drawn anew. */
const Block = memo(
  ({ token }: { readonly token: Token; readonly raw: string }) => <>{block(token, 0)}</>,
  (one, other) => one.raw === other.raw && one.token.type === other.token.type,
);

function block(token: Token, depth: number): ComponentChildren {
  if (depth > DEEPEST) return <p class="words">{token.raw}</p>;
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'heading':
      return <p class={`heading level-${Math.min((token as Tokens.Heading).depth, 4)}`}>{inline(token, depth)}</p>;
    case 'code': {
      const { text, lang = '' } = token as Tokens.Code;
      return <CodeBlock text={text} language={/^[\w+#.-]{1,20}/.exec(lang)?.[0] ?? ''} />;
    }
    case 'hr':
      return <hr />;
    case 'blockquote':
      return <blockquote>{all((token as Tokens.Blockquote).tokens, depth)}</blockquote>;
    case 'list':
      return list(token as Tokens.List, depth);
    case 'table':
      return table(token as Tokens.Table, depth);
    case 'paragraph':
      return <p>{inline(token, depth)}</p>;
    case 'text':
      return <>{inline(token, depth)}</>;
    default:
      return <p class="words">{token.raw.trim()}</p>;
  }
}

function all(tokens: readonly Token[], depth: number): ComponentChildren {
  return tokens.map((token, index) => <Nested key={index} token={token} depth={depth + 1} />);
}

function Nested({ token, depth }: { readonly token: Token; readonly depth: number }) {
  return <>{block(token, depth)}</>;
}

function list({ ordered, start, items }: Tokens.List, depth: number): JSX.Element {
  const entries = items.map((item, index) => (
    <li key={index}>
      {item.task && <input type="checkbox" checked={item.checked === true} disabled aria-label="Done" />}
      {all(item.tokens, depth)}
    </li>
  ));
  return ordered ? <ol start={typeof start === 'number' ? start : 1}>{entries}</ol> : <ul>{entries}</ul>;
}

function table({ header, rows }: Tokens.Table, depth: number): JSX.Element {
  return (
    // biome-ignore lint/a11y/useSemanticElements: no group of fields, and as a section it would be a landmark of the page.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard.
    <div class="wide" role="group" aria-label="Table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {header.map((cell, index) => (
              <th key={index}>{spans(cell.tokens, depth)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, index) => (
                <td key={index}>{spans(cell.tokens, depth)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inline(token: Token, depth: number): ComponentChildren {
  const { tokens, text } = token as { readonly tokens?: Token[]; readonly text?: string };
  return tokens === undefined ? (text ?? token.raw) : spans(tokens, depth);
}

function spans(tokens: readonly Token[], depth: number): ComponentChildren {
  return tokens.map((token, index) => <Span key={index} token={token} depth={depth + 1} />);
}

function Span({ token, depth }: { readonly token: Token; readonly depth: number }): JSX.Element | null {
  // It is drawn with its entry.
  if (token.type === 'checkbox') return null;
  if (depth > DEEPEST) return <>{token.raw}</>;
  switch (token.type) {
    case 'strong':
      return <strong>{inline(token, depth)}</strong>;
    case 'em':
      return <em>{inline(token, depth)}</em>;
    case 'del':
      return <del>{inline(token, depth)}</del>;
    case 'codespan':
      return <code>{(token as Tokens.Codespan).text}</code>;
    case 'br':
      return <br />;
    case 'escape':
      return <>{(token as Tokens.Escape).text}</>;
    case 'link':
      return <Link href={(token as Tokens.Link).href}>{inline(token, depth)}</Link>;
    case 'image': {
      const { href, text } = token as Tokens.Image;
      return <Link href={href}>{text === '' ? 'Picture' : text}</Link>;
    }
    case 'text':
      return <>{inline(token, depth)}</>;
    default:
      return <>{token.raw}</>;
  }
}

/** The shell opens it, after a question that shows the whole address. What is not https stays text. */
function Link({ href, children }: { readonly href: string; readonly children: ComponentChildren }) {
  const url = URL.canParse(href) ? new URL(href) : undefined;
  if (url?.protocol !== 'https:' || url.username !== '')
    return (
      <>
        <bdi>{children}</bdi> <bdi class="target">({visibleText(href)})</bdi>
      </>
    );
  return (
    <a href={url.href} rel="noreferrer">
      <bdi>{children}</bdi>{' '}
      <bdi class="target" dir="ltr">
        ({url.host})
      </bdi>
    </a>
  );
}
