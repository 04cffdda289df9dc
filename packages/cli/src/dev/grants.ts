// The permissions that a manifest requests, as `platform dev` shows and asks for them.
import { type Grant, isCritical, type Manifest, permissions } from '@platform/contract';
import { complain, paint, readAnswer, say } from '../terminal/terminal.ts';

/** @returns whether the person says yes; no where nobody can be asked */
export async function askForGrants(
  { name, permissions: requested }: Manifest,
  asked: readonly Grant[],
  signal: AbortSignal,
): Promise<boolean> {
  if (process.stdin.isTTY !== true) return false;
  say(`${name} asks for permission to`);
  for (const line of grantLines(asked, requested)) say(line);
  say('Allow this? [y/N]');
  return /^y(?:es)?$/i.test((await readAnswer(signal)).trim());
}

/** One line for each permission, and one for its reason. */
export function grantLines(grants: readonly Grant[], requested: Manifest['permissions'] = []): string[] {
  return grants.flatMap(({ id, resources }) => {
    const named = resources.every((one) => one === '*' || one === 'self') ? '' : `: ${resources.join(', ')}`;
    const reason = requested.find((one) => one.id === id)?.reason;
    const critical = resources.some((resource) => isCritical(id, resource)) ? paint('yellow', ' critical') : '';
    return [
      `  - ${permissions[id].plain}${named} ${paint('dim', `(${id})`)}${critical}`,
      ...(reason === undefined ? [] : [paint('dim', `    ${reason}`)]),
    ];
  });
}

/** Says what an app lacks, and where its author gives it. */
export function reportMissing(name: string, missing: readonly Grant[], where: string, hint: string): void {
  complain(`${name} runs without permission to`);
  for (const line of grantLines(missing)) complain(line);
  complain(`Allow it at ${where}${hint}`);
}
