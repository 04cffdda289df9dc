// What a document shows, so that a test runs it as it stands there.
import { readFileSync } from 'node:fs';

/**
 * The contents of the code blocks of one language in a part of a document.
 *
 * @param file from the root of the repository
 * @param heading the line of the part's heading with its `#`; the part ends before the next heading of its level or above.
 * By default the whole document.
 * @throws Error where there is no such heading, or no such block
 */
export function blocksOf(file: string, language: string, heading?: string): string[] {
  const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
  const blocks = [...partOf(file, text, heading).matchAll(/^```(\S*)\n([\s\S]*?)^```$/gm)];
  const found = blocks.filter(([, one]) => one === language).map(([, , content = '']) => content);
  if (found.length === 0) throw new Error(`${file} has no block of ${language} below "${heading ?? 'its title'}"`);
  return found;
}

/** The only block of the language there. */
export function documentedBlock(file: string, language: string, heading?: string): string {
  const [block = '', ...more] = blocksOf(file, language, heading);
  if (more.length > 0) throw new Error(`${file} has several blocks of ${language} below "${heading}"`);
  return block;
}

function partOf(file: string, text: string, heading?: string): string {
  if (heading === undefined) return text;
  const begin = `\n${text}`.indexOf(`\n${heading}\n`);
  if (begin === -1) throw new Error(`${file} has no heading "${heading}"`);
  const rest = text.slice(begin + heading.length);
  const level = heading.indexOf(' ');
  const next = withoutBlocks(rest).search(new RegExp(`\\n#{1,${level}} `));
  return next === -1 ? rest : rest.slice(0, next);
}

/** The same length, so that places stay what they are. */
function withoutBlocks(text: string): string {
  return text.replaceAll(/^```\S*\n[\s\S]*?^```$/gm, (block) => block.replaceAll('#', ' '));
}
