// Makes one file of a backend and the packages it imports, for folders whose package.json names dependencies.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import * as path from 'node:path';
import { PackageProblem } from './package-problem.ts';

export interface BundledBackend {
  /** The app's folder. */
  readonly folder: string;
  /** The script to start, in `workload/`. */
  readonly entry: string;
  /** The SDK, which the backend imports as `./platform-sdk.mjs` without having it. */
  readonly sdk: string | undefined;
}

/** Whether the backend's packages are beside it, in `node_modules` of the app's folder, and so not yet in `workload/`. */
export async function importsPackages(folder: string): Promise<boolean> {
  if (existsSync(path.join(folder, 'workload', 'node_modules'))) return false;
  const source = await readFile(path.join(folder, 'package.json'), 'utf8').catch(() => '{}');
  let value: { readonly dependencies?: object } | null;
  try {
    value = JSON.parse(source);
  } catch (error) {
    throw new PackageProblem([`package.json is not valid JSON: ${error instanceof Error ? error.message : error}`]);
  }
  return Object.keys(value?.dependencies ?? {}).length > 0;
}

/**
 * The same sources give the same bytes. Licence comments stay.
 * @throws {PackageProblem} naming each import that leads nowhere
 */
export async function bundleWorkload({ folder, entry, sdk }: BundledBackend): Promise<Buffer> {
  // Loaded here, because most packages need no bundler.
  const { rolldown } = await import('rolldown');
  const cwd = path.resolve(folder);
  const workload = path.join(cwd, 'workload');
  const unresolved: string[] = [];
  const bundle = await rolldown({
    input: path.join(workload, entry),
    cwd,
    platform: 'node',
    // Configuration files that happen to be above the folder do not count.
    tsconfig: false,
    plugins: [
      {
        name: 'app',
        async resolveId(source, importer, options) {
          if (importer === undefined || !importer.startsWith(workload + path.sep)) return null;
          const target = path.resolve(path.dirname(importer), source);
          if (source.startsWith('.') && target === path.join(workload, 'platform-sdk.mjs') && !existsSync(target))
            return sdk === undefined ? { id: source, external: true } : sdk;
          const found = await this.resolve(source, importer, { ...options, skipSelf: true });
          if (found !== null) return found;
          unresolved.push(`${path.relative(cwd, importer)} imports ${source}, which ${cure(source)}`);
          return { id: source, external: true };
        },
      },
    ],
    onLog: () => undefined,
  });
  try {
    const { output } = await bundle.generate({
      format: entry.endsWith('.cjs') ? 'cjs' : 'esm',
      codeSplitting: false,
      comments: { legal: true, annotation: false, jsdoc: false },
    });
    if (unresolved.length > 0) throw new PackageProblem(unresolved);
    return Buffer.from(output[0].code);
  } catch (error) {
    if (error instanceof PackageProblem) throw error;
    throw new PackageProblem([`workload/${entry} cannot be bundled: ${reasonOf(error)}`]);
  } finally {
    await bundle.close();
  }
}

function cure(source: string): string {
  return /^[./]/.test(source) ? 'is not there.' : 'is not installed. Run npm install in the folder of the app.';
}

/** The first error of the bundler, without the picture of the line. */
function reasonOf(error: unknown): string {
  const first: unknown = error instanceof Error && 'errors' in error ? (error.errors as unknown[])[0] : error;
  return (first instanceof Error ? first.message : String(first)).split('\n')[0] ?? '';
}
