// Says documents and conditions in the text forms of PostgreSQL's tsvector and tsquery, every word with its mark.
import type { Condition } from './condition.ts';
import type { SearchDocument } from './search-document.ts';
import type { SimilarWords } from './similar-words.ts';

/** @param mark of the account whose document it is */
export function tsvectorText({ places }: Pick<SearchDocument, 'places'>, mark: string): string {
  const texts = [];
  for (const [lexeme, found] of places) {
    const written = found.map(({ position, weight }) => `${position}${weight}`).join(',');
    texts.push(`${quoted(mark + lexeme)}:${written}`);
  }
  return texts.join(' ');
}

export interface TsqueryOptions {
  /** Of the account that asks. */
  readonly mark: string;
  /** Matches only if every word is in the title. */
  readonly title?: boolean;
  /** Words of the index that may stand for a typed one. */
  readonly similar: SimilarWords;
}

export function tsqueryText(condition: Condition, options: TsqueryOptions): string {
  const { mark, title = false, similar } = options;
  switch (condition.kind) {
    case 'word': {
      const { text, prefix, comparable } = condition;
      const typed = lexeme(mark + text, prefix, title);
      const others = comparable === null ? [] : (similar.get(text) ?? []);
      return joined([typed, ...others.map((other) => lexeme(mark + other, false, title))], ' | ');
    }
    case 'all':
      return joined(
        condition.of.map((part) => tsqueryText(part, options)),
        ' & ',
      );
    case 'any':
      return joined(
        condition.of.map((part) => tsqueryText(part, options)),
        ' | ',
      );
    case 'ordered': {
      let text = '';
      for (const { text: word, prefix, distance } of condition.of)
        text += `${text === '' ? '' : ` <${distance}> `}${lexeme(mark + word, prefix, title)}`;
      return `(${text})`;
    }
  }
}

function joined(parts: readonly string[], operator: string): string {
  return parts.length === 1 ? (parts[0] ?? '') : `(${parts.join(operator)})`;
}

function lexeme(text: string, prefix: boolean, title: boolean): string {
  const label = (prefix ? '*' : '') + (title ? 'AB' : '');
  return label === '' ? quoted(text) : `${quoted(text)}:${label}`;
}

function quoted(lexeme: string): string {
  return `'${lexeme.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
