// The table of the bridge: each domain's methods. packages/shell/README.md says which rules they follow.
import type { BridgeCall } from '@platform/contract';
import type { Method } from './method.ts';
import { appMethods } from './methods/apps.ts';
import { chromeMethods } from './methods/chrome.ts';
import { contactMethods } from './methods/contacts.ts';
import { contextMethods } from './methods/context.ts';
import { downloadMethods } from './methods/downloads.ts';
import { fileMethods } from './methods/files.ts';
import { intelligenceMethods } from './methods/intelligence.ts';
import { keptMethods } from './methods/kept.ts';
import { launcherMethods } from './methods/launcher.ts';
import { linkMethods } from './methods/links.ts';
import { mcpMethods } from './methods/mcp.ts';
import { notificationMethods } from './methods/notifications.ts';
import { runtimeMethods } from './methods/runtime.ts';
import { searchMethods } from './methods/search.ts';
import { systemMethods } from './methods/system.ts';

type WalletCall = Extract<BridgeCall, `wallet.${string}`>;

export const methods: { readonly [Name in Exclude<BridgeCall, WalletCall>]: Method<Name> } = {
  ...contextMethods,
  ...keptMethods,
  ...notificationMethods,
  ...appMethods,
  ...launcherMethods,
  ...runtimeMethods,
  ...systemMethods,
  ...searchMethods,
  ...contactMethods,
  ...mcpMethods,
  ...intelligenceMethods,
  ...linkMethods,
  ...downloadMethods,
  ...fileMethods,
  ...chromeMethods,
};

/** Those of the wallet are loaded when they are first called. @returns `undefined` for what is no method */
export async function findMethod(name: string): Promise<Method<BridgeCall> | undefined> {
  const table: object = name.startsWith('wallet.') ? (await import('./methods/wallet.ts')).walletMethods : methods;
  // Nothing inherited is a method.
  return Object.hasOwn(table, name) ? (table as Record<string, Method<BridgeCall>>)[name] : undefined;
}
