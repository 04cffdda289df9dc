// Addresses of people: three forms for one person, made one (contract 4f).
import { accountName, isServerName } from '@platform/contract';

export type Address =
  /** An account of this platform, whether there is one of this name or not. */
  | { readonly kind: 'local'; readonly name: string }
  /** Somebody on another server. */
  | { readonly kind: 'external'; readonly userId: string };

/** What Matrix allows in the names of users, of today and of former times (specification 1.15, appendix 4.2.1), but for `:`. */
const LOCAL_PART = /^[!-9;-~]+$/;
/** Of a whole user id, in bytes. */
const LONGEST_USER_ID = 255;

/** @returns `null` for what is no address. @param serverName of this platform */
export function parseAddress(input: string, serverName: string): Address | null {
  const text = input.trim();
  const asUserId = text.startsWith('@');
  const at = asUserId ? text.indexOf(':') : text.lastIndexOf('@');
  if (asUserId && at === -1) return null;
  const name = text.slice(asUserId ? 1 : 0, at === -1 ? undefined : at);
  const host = at === -1 ? serverName : text.slice(at + 1).toLowerCase();
  if (!isServerName(host)) return null;
  if (host === serverName) {
    // An account's name has no other spelling than that of its case.
    const { success, data } = accountName.safeParse(name);
    return success ? { kind: 'local', name: data } : null;
  }
  const userId = `@${name}:${host}`;
  return LOCAL_PART.test(name) && userId.length <= LONGEST_USER_ID ? { kind: 'external', userId } : null;
}

/** What addresses of this kind are called to apps. */
export function addressText(address: Address, serverName: string): string {
  return address.kind === 'local' ? `${address.name}@${serverName}` : address.userId;
}

/** The transport user id. */
export function userIdOf(address: Address, serverName: string): string {
  return address.kind === 'local' ? `@${address.name}:${serverName}` : address.userId;
}
