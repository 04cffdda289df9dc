// What stands for an app without a picture: its first letter on a colour of its own, the same wherever it is shown.

export function letterOf(name: string): string {
  return [...name][0]?.toUpperCase() ?? '?';
}

/** A stable hue in degrees. */
export function hueOf(name: string): number {
  let hash = 0;
  for (const character of name) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 360;
  return hash;
}
