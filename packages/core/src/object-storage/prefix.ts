// The part of the store that belongs to an installation (contract 4c).
import { type InstallationId, installationId } from '@platform/contract';

/** @throws ZodError for what is no id, whose prefix could be that of others */
export function prefixOf(id: InstallationId): string {
  return `installations/${installationId.parse(id)}/`;
}
