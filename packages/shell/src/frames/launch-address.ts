// Where a frame begins: the launch address of its app, at a place inside it when one was asked for.

/** A query of the app or a path on its origin; nothing that could lead elsewhere. */
const PLACE = /^(?:\?|\/(?![/\\]))[^\\#]*$/;

/** The fragment, which carries the capabilities, stays as it is; so does everything when `target` is no place of the app. */
export function launchAddress(url: string, target: string | null): string {
  const address = new URL(url);
  if (target === null || !PLACE.test(target)) return address.href;
  const place = new URL(target, address);
  place.hash = address.hash;
  return place.origin === address.origin ? place.href : address.href;
}
