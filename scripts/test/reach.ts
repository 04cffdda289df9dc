// What a test file leans on, through however many others, but for one thing: what only composes the domains leads into
// none of them. Every test of a whole platform would otherwise lean on everything; what it guards is in rotation.json.
import { existsSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { type Checkout, readImports } from './imports.ts';
import { readDomains } from './territory.ts';

/** Below these a file of another domain is not followed into a third: its own tests are chosen for that. */
const MOST_BORDERS = 1;
const CORE = 'packages/core/src/';
const CONTRACT = 'packages/contract/src/';
const EXPORTED = /^export (?:const|function|class|async function) ([A-Za-z0-9_$]+)/gm;

/** @returns for a test file the files that it leans on, itself among them */
export function readReach(checkout: Checkout): (test: string) => ReadonlySet<string> {
  const imports = readImports(checkout);
  const domains = readDomains(checkout.files);
  const contractFiles = checkout.files.filter((file) => domains.inContract(file) !== undefined);
  const exporters = new Map(
    contractFiles.flatMap((file) => exportsOf(path.join(checkout.root, file)).map((name) => [name, file] as const)),
  );

  /** How many borders between folders of core an import crosses; undefined where it is not followed. */
  function bordersTo(to: string, from: string, test: string): number | undefined {
    const contract = domains.inContract(to) !== undefined;
    if (contract && !test.startsWith(CONTRACT) && from !== test && domains.inContract(from) === undefined)
      return undefined;
    const domain = domains.inCore(to);
    if (domain === undefined || from === test) return 0;
    const folder = folderInCore(from);
    if (folder === undefined) return undefined;
    return folder === domain ? 0 : 1;
  }

  return (test) => {
    const crossed = new Map([[test, 0]]);
    // Grows while it is walked; a file that is reached over fewer borders later is walked again.
    const queue = [test];
    const follow = (to: string, borders: number) => {
      if (borders > MOST_BORDERS || (crossed.get(to) ?? Number.POSITIVE_INFINITY) <= borders) return;
      crossed.set(to, borders);
      queue.push(to);
    };
    for (const from of queue) {
      const before = crossed.get(from) ?? 0;
      for (const to of imports.next(from)) {
        const more = bordersTo(to, from, test);
        if (more !== undefined) follow(to, before + more);
      }
      for (const name of imports.fromContract(from)) {
        const exporter = exporters.get(name);
        if (exporter !== undefined) follow(exporter, before);
      }
    }
    return new Set(crossed.keys());
  };
}

/** A folder of core, whether of a domain or not; what lies beside the folders and in `entries/` composes them. */
function folderInCore(file: string): string | undefined {
  if (!file.startsWith(CORE)) return undefined;
  const [folder, inside] = file.slice(CORE.length).split('/');
  return inside === undefined || folder === 'entries' ? undefined : folder;
}

function exportsOf(file: string): string[] {
  if (!existsSync(file)) return [];
  return [...readFileSync(file, 'utf8').matchAll(EXPORTED)].map(([, name]) => name ?? '');
}
