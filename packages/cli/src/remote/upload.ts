// Brings a package into the catalog of another platform, for `platform publish --on` and `platform dev --on`.
import { stat } from 'node:fs/promises';
import type { RemotePlatform } from './remote-platform.ts';

/** Publishes a package. Throws as {@link RemotePlatform.call}. */
export async function upload(
  remote: RemotePlatform,
  { id, version }: { readonly id: string; readonly version: string },
  file: string,
): Promise<unknown> {
  const { size } = await stat(file);
  const path = `/v1/catalog/${encodeURIComponent(id)}/versions/${encodeURIComponent(version)}`;
  return (await remote.call({ method: 'PUT', path, file: { path: file, size, mediaType: 'application/gzip' } })).body;
}
