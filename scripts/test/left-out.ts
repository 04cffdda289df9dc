// The end of an ordinary run: what it did not try, by name, and how to try it.
import * as path from 'node:path';
import type { Turn } from './turn.ts';

const LINE = 118;

/** @param files those of the other thirds that did not run */
export function leftOutLines(files: readonly string[], { third, device }: Pick<Turn, 'third' | 'device'>): string[] {
  const other = device === 'phone' ? 'desktop' : 'phone';
  const folders = Map.groupBy(files, (file) => path.dirname(file));
  const named = [...folders].flatMap(([folder, inside]) => {
    const names = inside.map((file) => path.basename(file, '.test.ts'));
    return wrap(`  ${folder} (${inside.length}): ${names.join(', ')}`);
  });
  return [
    `Left out of this run, which was that of third ${third} on a ${device}: ${files.length} test files`,
    ...named,
    `  and pages on a ${other}, pictures and contrast by night, large counts.`,
    'All files, on both devices: npm test -- --all. Before a release, with all of this: npm run test:release.',
  ];
}

function wrap(text: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/(?<=\S )/)) {
    if (line.length + word.trimEnd().length > LINE) {
      lines.push(line.trimEnd());
      line = '    ';
    }
    line += word;
  }
  return [...lines, line];
}
