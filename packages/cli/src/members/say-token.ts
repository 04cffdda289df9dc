// Prints an enrolment token as the command that uses it.
import type { MemberKind } from '@platform/contract';
import type { PlatformConfig } from '@platform/core/config';
import { minuteText } from '../terminal/minute-text.ts';
import { paint, say } from '../terminal/terminal.ts';

/** @param adopted the node that gets a new key by it; default: a new member */
export function sayToken(
  kind: MemberKind,
  config: Pick<PlatformConfig, 'linkListen' | 'origin'>,
  { token, expiresAt }: { readonly token: string; readonly expiresAt: Date },
  adopted?: string,
): void {
  const address = coreAddress(config);
  if (address === null) {
    const what = 'Other machines cannot reach this core yet: set PLATFORM_LINK_LISTEN, restart the platform, and run';
    say(`${paint('yellow', `${what} this command again.`)}\n`);
  }
  const where = adopted === undefined ? 'the new machine' : `the machine that has the volumes of ${adopted}`;
  const name = adopted === undefined ? '' : ` --name ${adopted}`;
  say(`Run this once on ${where}, in its checkout, before ${minuteText(expiresAt)}:\n`);
  say(`  ${paint('cyan', `./platform ${kind} join ${address ?? '<core-url>'} ${token}${name}`)}\n`);
}

/** Where other machines reach this core; `null` when they cannot. */
function coreAddress({ linkListen, origin }: Pick<PlatformConfig, 'linkListen' | 'origin'>): string | null {
  if (linkListen !== null) {
    const host = linkListen.host.includes(':') ? `[${linkListen.host}]` : linkListen.host;
    return `https://${host}:${linkListen.port}`;
  }
  return origin.startsWith('https:') ? origin : null;
}
