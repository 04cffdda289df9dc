// The questions only the shell asks: one at a time, drawn outside every frame, answered "no" unless a person says yes.
import {
  type AccountChange,
  type AuthorReview,
  type CatalogDetail,
  type Grant,
  type Invitation,
  openRoutes,
  type PermissionsView,
  type SecretBinding,
} from '@platform/contract';
import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { ApiError, plainMessage } from '../../api/api-error.ts';
import { call, everyItem, ONE_PAGE } from '../../api/client.ts';
import { forgetIcons } from '../../apps/app-icons.ts';
import { resourcesOf } from '../../apps/bridge/grants.ts';
import { closeApp } from '../../apps/frames/open-apps.ts';
import { readInstalledApps, refreshInstalledApps } from '../../apps/installed-apps.ts';
import { pauseEverything } from '../../apps/pause.ts';
import { askedModels, missingForAi } from '../ai/ai-access.ts';
import { joinGrants } from './narrowing.ts';
import { requestsByRoute } from './new-requests.ts';

/** The requester: an app, with the origin of its frame, or the person in the shell's own pages. */
export interface Asker {
  readonly name: string;
  readonly origin: string;
}

interface Question {
  readonly asker: Asker | null;
  readonly answer: (approved: boolean) => void;
}

/** What the operator is asked about. */
export type OperatorMatter =
  | { readonly kind: 'change'; readonly name: string; readonly change: AccountChange }
  /** `name` is `null` for any. */
  | { readonly kind: 'invite'; readonly name: string | null }
  | { readonly kind: 'uninvite'; readonly invitation: Invitation };

export type OperatorPrompt = Question & {
  readonly kind: 'operator';
  readonly matter: OperatorMatter;
  /** Loaded before the question is shown, so that its refusal has the focus from the beginning. */
  readonly Review: ComponentType<{ readonly asked: OperatorPrompt }>;
};

export type Prompt =
  | OperatorPrompt
  | (Question & {
      readonly kind: 'install';
      readonly detail: CatalogDetail;
      readonly version: string;
      /** Names of the account's secrets, where the app has a use for one. */
      readonly secrets: readonly string[];
      /** Why AI can't work for it yet, in one line; `null` where it can, or the app does not ask for it. */
      readonly missingForAi: string | null;
    })
  | (Question & {
      readonly kind: 'upgrade';
      readonly detail: CatalogDetail;
      readonly from: string;
      readonly version: string;
      /** What the installed version requested and was granted. */
      readonly held: PermissionsView;
      /** Of the installed version. */
      readonly bindings: readonly SecretBinding[];
    })
  | (Question & { readonly kind: 'uninstall'; readonly appId: string; readonly name: string })
  | (Question & {
      readonly kind: 'withdraw';
      readonly appId: string;
      readonly name: string;
      readonly icon: string | null;
      readonly version: string;
    })
  | (Question & { readonly kind: 'renew-address'; readonly appId: string; readonly name: string })
  | (Question & { readonly kind: 'pause' })
  | (Question & { readonly kind: 'command-line'; readonly code: string; readonly request: AuthorReview })
  | (Question & { readonly kind: 'link'; readonly url: string });

export const prompt = signal<Prompt | null>(null);
/** Whether the person approved and it was done, so that closing the last page of the dialog is no refusal. */
export const carriedOut = signal(false);

/** Upgrades this page has carried out, with the grants that follow: what was read of an app before is out of date. */
export const upgradesDone = signal(0);

type Without<P, Keys extends PropertyKey> = P extends unknown ? Omit<P, Keys> : never;

/** @returns false when the person declined, or when another question is open */
function ask(question: Without<Prompt, 'answer'>): Promise<boolean> {
  if (prompt.value !== null) return Promise.resolve(false);
  return new Promise((resolve) => {
    const answer = (approved: boolean) => {
      prompt.value = null;
      resolve(approved);
    };
    carriedOut.value = false;
    prompt.value = { ...question, answer };
  });
}

/**
 * Shows the review of an installation, or of an upgrade when the app is there in another version.
 * @throws ApiError when the app is not in the catalog, or `already_installed`
 */
export async function askToInstall(appId: string, version: string | null, asker: Asker | null): Promise<boolean> {
  // Of the very version that is meant: another one may ask for something else.
  const read = call('catalog.read', { params: { appId }, query: { version: version ?? undefined } });
  const [found, apps] = await Promise.all([read, readInstalledApps()]);
  const detail = { ...found, permissions: requestsByRoute(found.permissions, found.publicRoutes) };
  const wanted = detail.version;
  const installed = apps.find((app) => app.appId === appId);
  if (installed === undefined) {
    const secrets =
      detail.secretSlots.length === 0 ? [] : (await call('secrets.list', ONE_PAGE)).items.map(({ name }) => name);
    const models = askedModels(detail.permissions);
    const missing = models.length === 0 ? null : missingForAi(models, (await call('account.intelligence.list')).items);
    return ask({ kind: 'install', detail, version: wanted, secrets, missingForAi: missing, asker });
  }
  if (installed.version === wanted) return true;
  const [held, { items: bindings }] = await Promise.all([
    readHeld(appId),
    call('apps.secretBindings.list', { params: { appId } }),
  ]);
  return ask({ kind: 'upgrade', detail, from: installed.version, version: wanted, held, bindings, asker });
}

/** What the installed version requested, by route as {@link requestsByRoute}, and was granted. */
async function readHeld(appId: string): Promise<PermissionsView> {
  const params = { appId };
  const held = await call('apps.permissions.read', { params });
  const asked = resourcesOf(held.requested, 'endpoints.public');
  if (asked.length === 0) return held;
  const declared = (await call('apps.public', { params })).routes.map(({ method, path }) => `${method}:${path}`);
  return { ...held, requested: requestsByRoute(held.requested, openRoutes(declared, asked)) };
}

export function askToUninstall(appId: string, name: string, asker: Asker | null): Promise<boolean> {
  return ask({ kind: 'uninstall', appId, name, asker });
}

/**
 * Before its publisher deletes a version.
 * @throws ApiError `not_found`
 */
export async function askToWithdraw(appId: string, version: string, asker: Asker | null): Promise<boolean> {
  const { name, icon } = await call('catalog.read', { params: { appId }, query: { version } });
  return ask({ kind: 'withdraw', appId, name, icon, version, asker });
}

/** Before an app gets another address on the internet. Only the person asks for it. */
export function askToRenewAddress(appId: string, name: string): Promise<boolean> {
  return ask({ kind: 'renew-address', appId, name, asker: null });
}

/** Before everything of the account is stopped; `asker` is null when the person began it. */
export function askToPause(asker: Asker | null): Promise<boolean> {
  return ask({ kind: 'pause', asker });
}

/** Before a command line is signed in. Only the person, who typed its code, asks for it. */
export function askToAllowCommandLine(code: string, request: AuthorReview): Promise<boolean> {
  return ask({ kind: 'command-line', code, request, asker: null });
}

/** Before an address outside the platform is opened. */
export function askToOpenLink(url: string, asker: Asker): Promise<boolean> {
  return ask({ kind: 'link', url, asker });
}

async function askOperator(matter: OperatorMatter, asker: Asker): Promise<boolean> {
  const { OperatorReview: Review } = await import('./operator-review.tsx');
  return ask({ kind: 'operator', matter, Review, asker });
}

/** Before the master account changes an account. */
export function askToChangeAccount(name: string, change: AccountChange, asker: Asker): Promise<boolean> {
  return askOperator({ kind: 'change', name, change }, asker);
}

/** Before the master account creates an invitation, whose link is then shown. @param name `null` for any */
export function askToInvite(name: string | null, asker: Asker): Promise<boolean> {
  return askOperator({ kind: 'invite', name }, asker);
}

/**
 * Before the master account revokes an invitation.
 * @throws ApiError `not_found`
 */
export async function askToUninvite(id: string, asker: Asker): Promise<boolean> {
  const all = await everyItem((cursor) => call('operator.invitations.list', { query: { limit: 200, cursor } }));
  const invitation = all.find((one) => one.id === id);
  if (invitation !== undefined) return askOperator({ kind: 'uninvite', invitation }, asker);
  const detail = 'There is no such invitation. It was used, withdrawn, or has expired.';
  throw new ApiError({ code: 'not_found', detail, status: 404 });
}

/** Unpacking and, for an app that is always on, its first start may take their time. */
const INSTALL_TIMEOUT_MS = 180_000;

/** @returns `null` when it worked, else what went wrong */
export async function install(appId: string, version: string, permissions: readonly Grant[]): Promise<string | null> {
  return attempt(async () => {
    await call('apps.install', {
      body: { appId, version, permissions: [...permissions] },
      timeoutMs: INSTALL_TIMEOUT_MS,
    });
  });
}

/**
 * Changes the version, and then grants what the person allowed of its new requests.
 *
 * @returns `null` when it worked, else what went wrong
 */
export async function upgrade(
  appId: string,
  version: string,
  allowed: { readonly permissions: readonly Grant[]; readonly acceptResources: boolean },
): Promise<string | null> {
  return attempt(async () => {
    const params = { appId };
    const { permissions, acceptResources } = allowed;
    await call('apps.upgrade', { params, body: { version, acceptResources }, timeoutMs: INSTALL_TIMEOUT_MS });
    closeApp(appId);
    if (permissions.length === 0) return;
    const kept = await call('apps.permissions.read', { params });
    const body = { permissions: joinGrants(kept.permissions, permissions) };
    await call('apps.permissions.replace', { params, body });
  }).finally(() => {
    upgradesDone.value += 1;
  });
}

export async function uninstall(appId: string): Promise<string | null> {
  return attempt(async () => {
    await call('apps.uninstall', { params: { appId } });
    closeApp(appId);
  });
}

export async function withdraw(appId: string, version: string): Promise<string | null> {
  return attempt(() => call('catalog.withdraw', { params: { appId, version } }));
}

export async function renewAddress(appId: string): Promise<string | null> {
  try {
    await call('apps.renewPublic', { params: { appId } });
    carriedOut.value = true;
    return null;
  } catch (error) {
    return plainMessage(error);
  }
}

export async function pause(): Promise<string | null> {
  try {
    await pauseEverything();
    carriedOut.value = true;
    return null;
  } catch (error) {
    return plainMessage(error);
  }
}

async function attempt(change: () => Promise<void>): Promise<string | null> {
  try {
    await change();
    forgetIcons();
    await refreshInstalledApps();
    carriedOut.value = true;
    return null;
  } catch (error) {
    return plainMessage(error);
  }
}
