// The registration of the messaging bridge as an application service of its homeserver: both read this file. It is JSON, which is
// YAML as well.
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import type { PlatformConfig } from '@platform/core/config';
import * as z from 'zod';

const token = z.string().regex(/^[!-~]{32,256}$/);

const registration = z.object({
  id: z.string().regex(/^[\w-]{1,64}$/),
  url: z.string(),
  as_token: token,
  hs_token: token,
  sender_localpart: z.string().min(1).max(64),
  namespaces: z.object({ users: z.array(z.object({ exclusive: z.boolean(), regex: z.string() })) }),
});
export type Registration = z.infer<typeof registration>;

/** Who the bridge itself is at its homeserver. */
const SENDER = 'platform-messaging';

type Settings = Pick<PlatformConfig, 'messaging' | 'messagingBridge'>;

export function newRegistration({ messaging, messagingBridge }: Settings): Registration & Record<string, unknown> {
  const secret = () => randomBytes(32).toString('hex');
  return {
    id: SENDER,
    url: urlOf(messagingBridge.listen),
    as_token: secret(),
    hs_token: secret(),
    sender_localpart: SENDER,
    rate_limited: false,
    'io.element.msc4190': true,
    // Receipts, by which the bridge learns at once what somebody has read with another Matrix client.
    receive_ephemeral: true,
    namespaces: { users: [{ exclusive: true, regex: usersOf(messaging.serverName) }], aliases: [], rooms: [] } as never,
  };
}

/** All names of accounts: nobody else may take one at the homeserver. */
export function usersOf(serverName: string): string {
  return `@[a-z0-9][a-z0-9-]*:${serverName.replace(/[.[\]]/g, '\\$&')}`;
}

/** At which the homeserver reaches the bridge. */
function urlOf({ host, port }: PlatformConfig['messagingBridge']['listen']): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** @throws Error of the file system, such as for one that is there */
export function writeRegistration(file: string, content: Registration): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
}

export type FoundRegistration =
  | { readonly kind: 'missing' }
  | { readonly kind: 'unusable'; readonly why: string }
  | { readonly kind: 'found'; readonly registration: Registration; readonly isOpen: boolean };

export function findRegistration(file: string): FoundRegistration {
  try {
    const parsed = registration.safeParse(JSON.parse(readFileSync(file, 'utf8')));
    if (!parsed.success) return { kind: 'unusable', why: 'is no registration of the messaging bridge' };
    // Whoever reads it can act as every account.
    return { kind: 'found', registration: parsed.data, isOpen: (statSync(file).mode & 0o004) !== 0 };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { kind: 'missing' };
    return { kind: 'unusable', why: error instanceof SyntaxError ? 'is no JSON' : 'cannot be read' };
  }
}
