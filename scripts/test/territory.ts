// What belongs to a domain, wherever it lies: its folder in core, its file in the contract, its part of the shell, of the
// Gateway or of the SDK, its app. They carry its name, so a new domain needs no entry anywhere.

/** Folders in which a file or folder with the name of a domain belongs to it. */
const HOMES = /^(?:packages\/[^/]+\/src|apps)\//;

/**
 * Whether `file` is what `guard` names: a file or folder by its path from the root of the checkout, or a domain by its
 * name: folders and files `<name>` in the packages, and files `<name>-….ts`.
 */
export function guards(guard: string, file: string): boolean {
  if (file === guard || file.startsWith(`${guard}/`)) return true;
  const home = HOMES.exec(file)?.[0];
  if (home === undefined) return false;
  const parts = file.slice(home.length).split('/');
  const name = parts.pop() ?? '';
  return parts.includes(guard) || name.startsWith(`${guard}.`) || name.startsWith(`${guard}-`);
}

const CORE_DOMAIN = /^packages\/core\/src\/([^/]+)\/domain\.ts$/;
const CORE_FILE = /^packages\/core\/src\/([^/]+)\/./;
const CONTRACT_FILE = /^packages\/contract\/src\/domains\/([^/.]+)\.ts$/;

export interface Domains {
  /** The folder of a domain in core that a file lies in. */
  inCore(file: string): string | undefined;
  /** The domain whose file of the contract this is. */
  inContract(file: string): string | undefined;
}

/** @param files of the checkout; a folder of core with a `domain.ts` is a domain */
export function readDomains(files: readonly string[]): Domains {
  const folders = new Set(files.flatMap((file) => CORE_DOMAIN.exec(file)?.[1] ?? []));
  return {
    inCore(file) {
      const folder = CORE_FILE.exec(file)?.[1];
      return folder !== undefined && folders.has(folder) ? folder : undefined;
    },
    inContract: (file) => CONTRACT_FILE.exec(file)?.[1],
  };
}
