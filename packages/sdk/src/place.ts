// Reports to the shell where the app is, so that it comes back there when the person comes back to it.
import type { BRIDGE_LIMITS } from '@platform/contract';
import type { Bridge } from './bridge.ts';

const LONGEST: (typeof BRIDGE_LIMITS)['placeCharacters'] = 2_048;
/** Between two reports, in milliseconds. An app that moves all the time is still below what the shell takes. */
const PAUSE = 300;

/** Reports path, query and fragment of the page now and whenever they change; of many changes the last one counts. */
export function reportPlace(page: Window, bridge: Bridge): void {
  let reported = '';
  let pausing = false;

  function report(): void {
    const { pathname, search, hash } = page.location;
    const place = pathname + search + hash;
    if (pausing || place === reported || place.length > LONGEST) return;
    reported = place;
    pausing = true;
    setTimeout(() => {
      pausing = false;
      report();
    }, PAUSE);
    // A place that the shell does not take is no reason for the app to fail: it then comes back where it was before.
    bridge.call('place.set', { place }).catch(() => {});
  }

  const { navigation } = page as { readonly navigation?: EventTarget };
  if (navigation === undefined) {
    for (const change of ['pushState', 'replaceState'] as const) {
      const original = page.history[change].bind(page.history);
      page.history[change] = (...to) => {
        original(...to);
        report();
      };
    }
    for (const event of ['popstate', 'hashchange']) page.addEventListener(event, report);
  } else navigation.addEventListener('currententrychange', report);
  report();
}
