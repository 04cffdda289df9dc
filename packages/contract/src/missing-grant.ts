// The refusal of what an app was not granted, in the same words from core, which refuses its requests, and from the shell, which
// refuses the calls of its page.
import { type PermissionId, permissions } from './permissions.ts';

export interface MissingGrant {
  /** Of the app. */
  readonly name: string;
  readonly id: PermissionId;
  /** What the app may not do, to follow its name; default: what the permission says. */
  readonly what?: string;
  /** Whether its manifest requests it, so that its owner can allow it. */
  readonly isRequested: boolean;
}

export function missingGrantWords({ name, id, what = permissions[id].plain, isRequested }: MissingGrant): string {
  const remedy = isRequested
    ? `You can allow it in Settings → Apps → ${name}.`
    : `${name} does not request it: its author can add it to \`permissions\` in manifest.json.`;
  return `${name} may not ${what} (${id}). ${remedy}`;
}
