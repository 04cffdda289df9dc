// How a package is written (contract 3): the same files give the same bytes, whoever packs them.

/** Of the gzip around the archive. */
export const PACKAGE_COMPRESSION = { level: 9 } as const;

/** The head of a file in the archive: modes, owners and times are fixed. */
export function packageEntry(name: string, size: number) {
  return { name, size, mode: 0o644, mtime: new Date(0), uid: 0, gid: 0 };
}

/** The manifest comes first, the rest by name. */
export function inPackageOrder<File extends { readonly name: string }>(files: readonly File[]): File[] {
  return files.toSorted((one, other) => {
    if (one.name === 'manifest.json') return -1;
    return other.name === 'manifest.json' || one.name > other.name ? 1 : -1;
  });
}
