// The key of the search, Ctrl-K or ⌘K: pressed in the frame of an app it reaches this page alone, so the app passes it on.
import { isSearchKey } from '@platform/contract/search-key';

/** Has the shell open its search at that key, unless the page prevented the default, as an app does that uses the key itself. */
export function sendSearchKeyToShell(page: Window, open: () => Promise<unknown>): void {
  // On the window, so that the page's own handlers come first.
  page.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.repeat || !isSearchKey(event, page.navigator.platform)) return;
    event.preventDefault();
    // The shell opens nothing while something of its own is in front; the person sees that.
    open().catch(() => {});
  });
}
