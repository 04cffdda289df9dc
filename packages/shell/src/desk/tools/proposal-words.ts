// Proposed calls in words. What an app says of its tools, and what it sends along, is its own: nothing of it may pass for the platform's.
import type { ShownProposal } from '@platform/contract';
import { visibleText } from '../../design/visible-text.ts';

/** An app by its name; a client outside in quotes, since it names itself. */
export function proposerOf({ callerName, callerHost }: Pick<ShownProposal, 'callerName' | 'callerHost'>): string {
  return callerHost === null ? visibleText(callerName) : `A client, “${visibleText(callerName)}”,`;
}

/** `Send a message`, `Add a note in Notes`. */
export function summaryOf({ app, title, tool }: Pick<ShownProposal, 'app' | 'title' | 'tool'>): string {
  const name = title === null || title.trim() === '' ? tool.slice(tool.indexOf('.') + 1) : title;
  return app === null ? name : `${visibleText(name)} in ${app.name}`;
}

export interface ArgumentWords {
  readonly name: string;
  /** The whole value. */
  readonly text: string;
  /** A text; otherwise JSON. */
  readonly isText: boolean;
  readonly isLong: boolean;
}

const LONG_CHARACTERS = 400;
const LONG_LINES = 8;

/** Beyond these, what is in an object is shown as its JSON: each row repeats the names that lead to it. */
const LONGEST_NAME = 100;
const ROWS = 100;

/** Each argument in whole, in the order in which they were sent; members of an object as `message › body`. */
export function argumentsInWords(given: Readonly<Record<string, unknown>>): ArgumentWords[] {
  if (Object.keys(given).length > ROWS) return [rowOf('Everything', given)];
  const rows: ArgumentWords[] = [];
  add(given, '');
  return rows;

  function add(members: Readonly<Record<string, unknown>>, within: string): void {
    for (const [own, value] of Object.entries(members)) {
      const name = within + nameInWords(own);
      const inside = isRecord(value) ? Object.keys(value).length : 0;
      if (isRecord(value) && inside > 0 && name.length <= LONGEST_NAME && rows.length + inside <= ROWS)
        add(value, `${name} › `);
      else rows.push(rowOf(name, value));
    }
  }
}

function rowOf(name: string, value: unknown): ArgumentWords {
  const isText = typeof value === 'string';
  const text = visibleText(isText ? value : JSON.stringify(value, null, 2));
  const isLong = text.length > LONG_CHARACTERS || text.split('\n').length > LONG_LINES;
  return { name, text, isText, isLong };
}

/** One that could be read as a path, or is empty, stands in quotes. */
function nameInWords(name: string): string {
  const shown = visibleText(name);
  return shown.includes('›') || shown.trim() === '' ? JSON.stringify(shown) : shown;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The beginning of a long one, for the line that unfolds it. */
export function beginningOf(text: string): string {
  const [line = ''] = text.trimStart().split('\n', 1);
  return line.length > 120 ? `${line.slice(0, 120)} …` : `${line} …`;
}

/** The beginning of the last argument, by which a person tells two proposals of one tool apart in a list. */
export function detailOf({ arguments: given }: Pick<ShownProposal, 'arguments'>): string {
  const text = argumentsInWords(given).at(-1)?.text ?? '';
  const [line = ''] = text.trimStart().split('\n', 1);
  return line.length > 80 || line.length < text.trim().length ? `${line.slice(0, 80)} …` : line;
}

/** The texts of what a tool answered. */
export function answerOf(result: Readonly<Record<string, unknown>> | undefined): string {
  const content = Array.isArray(result?.content) ? (result.content as unknown[]) : [];
  const texts = content.flatMap((piece) => {
    const { type, text } = (piece ?? {}) as { readonly type?: unknown; readonly text?: unknown };
    return type === 'text' && typeof text === 'string' ? [text] : [];
  });
  return visibleText(texts.join('\n'));
}
