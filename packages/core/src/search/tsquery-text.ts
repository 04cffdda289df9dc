// Says a condition as a tsquery of PostgreSQL, in its text form.
import type { Condition } from './condition.ts';
import { quoteLexeme } from './search-document.ts';
import type { SimilarWords } from './similar-words.ts';

export interface TsqueryOptions {
  /** Asks for every word in the title. */
  readonly title?: boolean;
  /** Words of the index that may stand for a typed one. */
  readonly similar: SimilarWords;
}

export function tsqueryText(condition: Condition, options: TsqueryOptions): string {
  const { title = false, similar } = options;
  switch (condition.kind) {
    case 'word': {
      const { text, prefix, comparable } = condition;
      const typed = lexeme(text, prefix, title);
      const others = comparable === null ? [] : (similar.get(text) ?? []);
      return joined([typed, ...others.map((other) => lexeme(other, false, title))], ' | ');
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
        text += `${text === '' ? '' : ` <${distance}> `}${lexeme(word, prefix, title)}`;
      return `(${text})`;
    }
  }
}

function joined(parts: readonly string[], operator: string): string {
  return parts.length === 1 ? (parts[0] ?? '') : `(${parts.join(operator)})`;
}

function lexeme(text: string, prefix: boolean, title: boolean): string {
  const marks = (prefix ? '*' : '') + (title ? 'AB' : '');
  return marks === '' ? quoteLexeme(text) : `${quoteLexeme(text)}:${marks}`;
}
