// The backend that a command of the operator names.

import { StartError } from '@platform/core/config/start-error.ts';
import type { CoreContext } from '@platform/core/context.ts';
import { type Backend, findBackend } from '@platform/core/installations/backends.ts';

/** @throws StartError when there is none of that name */
export async function requireBackend(context: CoreContext, name: string): Promise<Backend> {
  const backend = await findBackend(context, name);
  if (backend !== undefined) return backend;
  throw new StartError('no_backend', `There is no installed backend ${name}. \`platform ps\` lists them.`);
}
