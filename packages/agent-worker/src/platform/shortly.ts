// What asks for nothing but a list, at the beginning of a turn, has no reason to take long.
export const SHORT_MILLISECONDS = 15_000;

/** @param signal what it is for ends earlier */
export function shortly(signal: AbortSignal | undefined): AbortSignal {
  const limit = AbortSignal.timeout(SHORT_MILLISECONDS);
  return signal === undefined ? limit : AbortSignal.any([signal, limit]);
}
