// Where a frame begins: the launch address of its app, at a place inside it that a search result or notification named,
// or where the app was left. No place leads off the app's origin or stands where launch data is expected.
import { BRIDGE_LIMITS, LAUNCH_MARK, LAUNCH_PLACE_MARK } from '@platform/contract';

/** A query of the app or a path on its origin; nothing that could lead elsewhere. */
const TARGET = /^(?:\?|\/(?![/\\]))[^\\#]*$/;
/** Path, query and fragment as a browser writes them, in ASCII without spaces; never `//host`, nor `/\host`, which is the same. */
const PLACE = /^\/(?![/\\])[!-[\]-~]*$/;

/** Whether an app may report this as its place. */
export function isPlace(text: string): boolean {
  if (text.length > BRIDGE_LIMITS.placeCharacters || !PLACE.test(text)) return false;
  // The fragment comes back into the address of the app, whose SDK would take it for launch data of its own.
  return !text.includes(LAUNCH_MARK);
}

/** The address at `target`. The fragment, which carries the capabilities, stays; so does everything when it is no place of the app. */
export function addressAtTarget(url: string, target: string): string {
  const address = new URL(url);
  if (!TARGET.test(target)) return address.href;
  const place = new URL(target, address);
  place.hash = address.hash;
  return place.origin === address.origin ? place.href : address.href;
}

/** The address where the app was left. The fragment of the place follows the launch data, and the SDK puts it back. */
export function addressAtPlace(url: string, place: string): string {
  const address = new URL(url);
  if (!isPlace(place)) return address.href;
  const there = new URL(place, address);
  if (there.origin !== address.origin) return address.href;
  const fragment = there.hash.slice(1);
  there.hash = fragment === '' ? address.hash : `${address.hash}${LAUNCH_PLACE_MARK}${fragment}`;
  return there.href;
}
