// The backend that a command of the operator names.

import { type Backend, type CoreContext, findBackend } from '@platform/core/operator';
import { StartError } from '@platform/core/start';

/** @throws StartError when there is none of that name */
export async function requireBackend(context: CoreContext, name: string): Promise<Backend> {
  const backend = await findBackend(context, name);
  if (backend !== undefined) return backend;
  throw new StartError('no_backend', `No backend named ${name} is installed. \`./platform ps\` lists them.`);
}
