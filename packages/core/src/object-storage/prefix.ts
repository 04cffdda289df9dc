// The parts of the store: of each installation (contract 4c), and of collections and files.
import { type InstallationId, installationId } from '@platform/contract';

/** @throws ZodError for what is no id, whose prefix could be that of others */
export function prefixOf(id: InstallationId): string {
  return `installations/${installationId.parse(id)}/`;
}

/** No installation's, whose Gateway signs requests for its own prefix alone. */
export const CONTENT_PREFIX = 'content/';
