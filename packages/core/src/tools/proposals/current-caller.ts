// Who proposed something, with what it may do now: an approval acts with the authority of this moment, not of that one.
import { findConnectionById } from '../../connections/face.ts';
import { findInstallationIdentity, NO_START } from '../../installations/face.ts';
import type { Hub } from '../hub/hub-tool.ts';
import { type ToolCaller, toolCallerOf } from '../tool-caller.ts';

/** @param id of the installation or connection. @returns `null` for one that has ended, and of a suspended account */
export async function currentCaller(hub: Hub, id: string): Promise<ToolCaller | null> {
  const connection = await findConnectionById(hub, id);
  if (connection !== null) return toolCallerOf(connection);
  const installation = await findInstallationIdentity(hub, id);
  // As its backend, whichever part proposed: no start of it takes part in this.
  return installation === null
    ? null
    : toolCallerOf({ ...installation, kind: 'installation', epoch: NO_START, envelopeKey: null, nodeKey: null });
}
