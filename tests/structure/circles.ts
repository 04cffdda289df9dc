// Circles of imports: what each module loads of the others, and whether a way leads back to where it began. What counts is
// what Node loads, at once or by `import()`; imports of types alone are erased before.
import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import { parseSync, Visitor } from 'rolldown/utils';
import { ROOT } from './modules.ts';

/** One file loads another; both from the root of the checkout. */
export interface Loading {
  readonly from: string;
  readonly to: string;
}

/** The files that a source text loads by a relative path. */
export function loadedBy(from: string, source: string): Loading[] {
  const names: string[] = [];
  const add = (node: unknown) => {
    if (typeof node !== 'object' || node === null || !('value' in node) || typeof node.value !== 'string') return;
    if (node.value.startsWith('.')) names.push(node.value);
  };
  new Visitor({
    ImportDeclaration: (node) => node.importKind !== 'type' && add(node.source),
    ExportNamedDeclaration: (node) => node.exportKind !== 'type' && add(node.source),
    ExportAllDeclaration: (node) => node.exportKind !== 'type' && add(node.source),
    ImportExpression: (node) => add(node.source),
  }).visit(parseSync(path.basename(from), source).program);
  return names.map((name) => ({ from, to: path.join(path.dirname(from), name) }));
}

/** What the files of the checkout load of each other. */
export function readLoadings(files: readonly string[]): Loading[] {
  return files.flatMap((file) => loadedBy(file, readFileSync(path.join(ROOT, file), 'utf8')));
}

/**
 * The first circle, as the lines `<file> loads <file>` that make it; empty when there is none.
 *
 * @param partOf what circles are looked for among. Default: the files themselves
 */
export function circleIn(all: readonly Loading[], partOf: (file: string) => string = (file) => file): string[] {
  const between = all.map((one) => ({ ...one, part: partOf(one.from), next: partOf(one.to) }));
  // A file that loads itself is a circle; a folder whose files load each other is none.
  const next = Map.groupBy(
    between.filter(({ part, next, from, to }) => part !== next || from === to),
    ({ part }) => part,
  );
  const done = new Set<string>();
  function search(part: string, way: readonly (typeof between)[number][]): string[] {
    const start = way.findIndex((step) => step.part === part);
    if (start >= 0) return way.slice(start).map(({ from, to }) => `${from} loads ${to}`);
    if (done.has(part)) return [];
    for (const one of next.get(part) ?? []) {
      const circle = search(one.next, [...way, one]);
      if (circle.length > 0) return circle;
    }
    done.add(part);
    return [];
  }
  for (const part of next.keys()) {
    const circle = search(part, []);
    if (circle.length > 0) return circle;
  }
  return [];
}
