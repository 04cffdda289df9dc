// Sizes as people read them, in powers of 1,024. Nothing else writes a size (tests/structure/sizes.test.ts). Loads nothing,
// so that browsers can have it alone.

export const KiB = 1024;
export const MiB = 1024 * KiB;
export const GiB = 1024 * MiB;

const UNITS = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/**
 * `500 bytes`, `1.6 KiB`, `128 MiB`, `1.5 GiB`: one digit after the point below ten.
 *
 * @param round `Math.ceil` for what is too large and `Math.floor` for what is left: neither then reads like the limit itself
 */
export function sizeText(bytes: number, round: (value: number) => number = Math.round): string {
  let value = bytes;
  let unit = -1;
  // Compared as it will be written: 1,048,575 bytes are 1 MiB, not 1024 KiB.
  while (round(value) >= 1_024 && unit < UNITS.length - 1) {
    value /= 1_024;
    unit += 1;
  }
  if (unit === -1) return `${round(value)} byte${round(value) === 1 ? '' : 's'}`;
  const tenths = round(value * 10) / 10;
  return `${tenths < 10 ? tenths : round(value)} ${UNITS[unit]}`;
}
