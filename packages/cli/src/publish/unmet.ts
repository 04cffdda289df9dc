// What of a published version cannot work on the platform it was published to: publishing does not depend on it.
import { plainLine, RefusalError, type UnmetNeed, unmetAnswer } from '@platform/contract';
import { StartError } from '@platform/core/start';
import type { RemotePlatform } from '../remote/remote-platform.ts';
import { complain, paint } from '../terminal/terminal.ts';

interface Release {
  readonly id: string;
  readonly version: string;
}

/** Nothing from a platform of another version, which has no such route: the version is published, whatever this says. */
export async function remoteUnmet(remote: RemotePlatform, { id, version }: Release): Promise<readonly UnmetNeed[]> {
  const path = `/v1/development/${id}/needs?version=${encodeURIComponent(version)}`;
  try {
    const { body } = await remote.call({ method: 'GET', path });
    return remote.read(unmetAnswer, body).unmet;
  } catch (error) {
    if (error instanceof RefusalError || error instanceof StartError) return [];
    throw error;
  }
}

/** @param name of the app */
export function warnOfUnmet(name: string, unmet: readonly UnmetNeed[]): void {
  if (unmet.length === 0) return;
  const what = unmet[0]?.kind === 'blocks' ? 'cannot be installed on' : 'does not work as a whole on';
  complain(`${paint('yellow', 'platform:', process.stderr)} ${plainLine(name)} ${what} this platform:`);
  for (const { text, next, command } of unmet) {
    complain(`  - ${plainLine(text)}`);
    complain(paint('dim', `    ${plainLine(next)}${command === undefined ? '' : ` (${command})`}`, process.stderr));
  }
}
