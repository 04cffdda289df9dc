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
export function matchCommands<Each extends Command>(commands: readonly Each[], typed: string): readonly Each[] {
  const wanted = wordsOf(typed);
  if (wanted.length === 0) return [];
  const begins = (words: readonly string[]) => wanted.every((each) => words.some((word) => word.startsWith(each)));
  const fits = commands.filter(({ title, words }) => begins([...wordsOf(title), ...wordsOf(words)]));
  const [best, others] = [true, false].map((first) => fits.filter(({ title }) => begins(wordsOf(title)) === first));
  return [...(best ?? []), ...(others ?? [])].slice(0, AT_MOST);
}
