// Names of images in registries, and which of them the operator allows. A name without a digest is none of them: what a
// tag leads to can change after a package was reviewed and installed, and from one node to the next.

export interface ImageReference {
  /** Host, with its port where it has one. */
  readonly registry: string;
  readonly repository: string;
  /** `sha256:` and 64 hexadecimal digits: of the image, or of the list that has it for each platform. */
  readonly digest: string;
}

const HOST = '[a-z0-9]+(?:[.-][a-z0-9]+)*(?::[0-9]{1,5})?';
const SEGMENT = '[a-z0-9]+(?:(?:[.]|_{1,2}|-+)[a-z0-9]+)*';
const PATH = `${SEGMENT}(?:/${SEGMENT})*`;
const REFERENCE = new RegExp(
  `^(?<registry>${HOST})/(?<repository>${PATH})(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?@(?<digest>sha256:[0-9a-f]{64})$`,
);
const ALLOWED = new RegExp(`^${HOST}(?:/${PATH})?$`);
const LONGEST = 512;

/** A tag beside the digest is left out: it says nothing that counts. Undefined for anything that is not a reference. */
export function readImageReference(text: string): ImageReference | undefined {
  const { registry, repository, digest } = (text.length <= LONGEST && REFERENCE.exec(text)?.groups) || {};
  if (registry === undefined || repository === undefined || digest === undefined) return undefined;
  return { registry, repository, digest };
}

/** Whether an entry of the operator's list can be understood: `registry.example`, with a port or a path if need be. */
export function isRegistryEntry(entry: string): boolean {
  return entry.length <= LONGEST && ALLOWED.test(entry);
}

/** @param entries `host[:port]` for all of a registry, `host[:port]/path` for what lies at or below that path. */
export function isImageAllowed({ registry, repository }: ImageReference, entries: readonly string[]): boolean {
  const name = `${registry}/${repository}`;
  return entries.some((entry) => name === entry || name.startsWith(`${entry}/`));
}
