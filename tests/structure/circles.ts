// What modules load by value, and whether they load each other in a circle. Type-only imports are erased before.
import * as path from 'node:path';
import { parseSync, Visitor } from 'rolldown/utils';

export interface Load {
  /** The importing file, and the imported one, from the same folder. */
  readonly from: string;
  readonly to: string;
}

/** Files that a TypeScript file loads by a relative path: imports, re-exports and `import()` of values. */
export function loadsOf(from: string, source: string): Load[] {
  const names: string[] = [];
  const add = (node: unknown) => {
    if (typeof node === 'object' && node !== null && 'value' in node && typeof node.value === 'string')
      names.push(node.value);
  };
  new Visitor({
    ImportDeclaration: (node) => (node.importKind === 'type' ? undefined : add(node.source)),
    ExportNamedDeclaration: (node) => (node.exportKind === 'type' ? undefined : add(node.source)),
    ExportAllDeclaration: (node) => (node.exportKind === 'type' ? undefined : add(node.source)),
    ImportExpression: (node) => add(node.source),
  }).visit(parseSync(path.basename(from), source).program);
  return names
    .filter((name) => name.startsWith('.'))
    .map((name) => ({ from, to: path.join(path.dirname(from), name) }));
}

/**
 * The first circle, as the imports that make it; empty when there is none.
 * @param partOf what a file belongs to; imports within one part make no circle
 */
export function circleIn(loads: readonly Load[], partOf: (file: string) => string): string[] {
  const next = Map.groupBy(
    loads.filter(({ from, to }) => partOf(from) !== partOf(to)),
    ({ from }) => partOf(from),
  );
  const done = new Set<string>();
  function search(part: string, way: readonly (Load & { readonly part: string })[]): string[] {
    const start = way.findIndex((step) => step.part === part);
    if (start >= 0) return way.slice(start).map(({ from, to }) => `${from} imports ${to}`);
    if (done.has(part)) return [];
    for (const load of next.get(part) ?? []) {
      const circle = search(partOf(load.to), [...way, { ...load, part }]);
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
