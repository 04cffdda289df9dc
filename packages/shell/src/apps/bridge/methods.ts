// The table of the bridge: each domain's methods. packages/shell/README.md says which rules they follow.
import type { BridgeCall } from '@platform/contract';
import type { Method } from './method.ts';
import { appMethods } from './methods/apps.ts';
import { chromeMethods } from './methods/chrome.ts';
import { contactMethods } from './methods/contacts.ts';
import { contextMethods } from './methods/context.ts';
import { downloadMethods } from './methods/downloads.ts';
import { intelligenceMethods } from './methods/intelligence.ts';
import { keptMethods } from './methods/kept.ts';
import { launcherMethods } from './methods/launcher.ts';
import { linkMethods } from './methods/links.ts';
import { notificationMethods } from './methods/notifications.ts';
import { runtimeMethods } from './methods/runtime.ts';
import { searchMethods } from './methods/search.ts';
import { systemMethods } from './methods/system.ts';

/** What few apps call, and none of them at once: loaded when it is first called. */
const later = {
  files: async () => (await import('./methods/files.ts')).fileMethods,
  mcp: async () => (await import('./methods/mcp.ts')).mcpMethods,
  recipient: async () => (await import('./methods/recipient.ts')).recipientMethods,
  wallet: async () => (await import('./methods/wallet.ts')).walletMethods,
};
type LaterCall = Extract<BridgeCall, `${keyof typeof later}.${string}`>;

export const methods: { readonly [Name in Exclude<BridgeCall, LaterCall>]: Method<Name> } = {
  ...contextMethods,
  ...keptMethods,
  ...notificationMethods,
  ...appMethods,
  ...launcherMethods,
  ...runtimeMethods,
  ...systemMethods,
  ...searchMethods,
  ...contactMethods,
  ...intelligenceMethods,
  ...linkMethods,
  ...downloadMethods,
  ...chromeMethods,
};

/** @returns `undefined` for what is no method */
export async function findMethod(name: string): Promise<Method<BridgeCall> | undefined> {
  const domain = name.split('.', 1)[0] ?? '';
  const table: object = Object.hasOwn(later, domain) ? await later[domain as keyof typeof later]() : methods;
  // Nothing inherited is a method.
  return Object.hasOwn(table, name) ? (table as Record<string, Method<BridgeCall>>)[name] : undefined;
}
