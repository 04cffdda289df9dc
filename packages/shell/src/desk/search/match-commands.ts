// Which settings pages and commands fit what was typed. Apart from what they do, so that it can be tested without a page.
import type { IconName } from '../../design/icons.tsx';

export interface Command {
  readonly id: string;
  readonly icon: IconName;
  readonly title: string;
  /** Where it leads, in a word or two. */
  readonly about: string;
  /** What else a person may call it. */
  readonly words: string;
}

/** Listed at most: apps and what is in them need room too. */
const AT_MOST = 5;

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Those of which each typed word begins a word; the ones whose title does come first. */
export function fitting<Each>(
  all: readonly Each[],
  typed: string,
  textOf: (each: Each) => Pick<Command, 'title' | 'words'>,
): readonly Each[] {
  const wanted = wordsOf(typed);
  if (wanted.length === 0) return [];
  const begins = (words: readonly string[]) => wanted.every((each) => words.some((word) => word.startsWith(each)));
  const byTitle: Each[] = [];
  const others: Each[] = [];
  for (const each of all) {
    const { title, words } = textOf(each);
    if (begins(wordsOf(title))) byTitle.push(each);
    else if (begins([...wordsOf(title), ...wordsOf(words)])) others.push(each);
  }
  return [...byTitle, ...others];
}

export function matchCommands<Each extends Command>(commands: readonly Each[], typed: string): readonly Each[] {
  return fitting(commands, typed, (command) => command).slice(0, AT_MOST);
}
