// What stands for an app without a picture: its first letter on a colour of its own, the same wherever it is shown.

export function letterOf(name: string): string {
  return [...name][0]?.toUpperCase() ?? '?';
}

/** A stable hue in degrees, also once the app is renamed, or removed and its name unknown. */
export function hueOf(appId: string): number {
  let hash = 0;
  for (const character of appId) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 360;
  // Ids that differ in one letter lie far apart.
  return (hash * 137) % 360;
}
