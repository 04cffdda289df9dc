// The key that opens the search: for the shell, and for the SDK, which passes it on from the frame of an app. Without
// dependencies, because both load it into pages.

interface Key {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

/** @param platform of the browser: `navigator.platform` */
export function isAppleDevice(platform: string): boolean {
  return /^(?:Mac|iP)/.test(platform);
}

/** Ctrl-K, and on a device of Apple ⌘K: there Ctrl-K ends a line in every text field. */
export function isSearchKey({ key, ctrlKey, metaKey, altKey, shiftKey }: Key, platform: string): boolean {
  const held = isAppleDevice(platform) ? metaKey && !ctrlKey : ctrlKey && !metaKey;
  return key.toLowerCase() === 'k' && held && !altKey && !shiftKey;
}
