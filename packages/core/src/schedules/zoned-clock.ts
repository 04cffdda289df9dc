// Wall-clock times of a time zone and the moments at which they happen, by the time zone data of Node.

const DAY_MILLISECONDS = 86_400_000;

/** Moments are milliseconds since the epoch; wall-clock times are the same count as if the zone were UTC. */
export interface ZonedClock {
  /** Whole seconds. */
  wallAt(moment: number): number;
  /** Of a time that happens twice the first; the end of the gap for one that does not happen. */
  momentOf(wall: number): number;
}

/** By lower-case name, of which there are some hundreds. */
const clocks = new Map<string, ZonedClock>();

/** @returns `undefined` when there is no such zone */
export function zonedClock(timeZone: string): ZonedClock | undefined {
  const known = clocks.get(timeZone.toLowerCase());
  if (known !== undefined) return known;
  const format = formatOf(timeZone);
  if (format === undefined) return undefined;
  const clock = clockOver(format);
  clocks.set(timeZone.toLowerCase(), clock);
  return clock;
}

function formatOf(timeZone: string): Intl.DateTimeFormat | undefined {
  const numeric = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', ...numeric, second: 'numeric' });
  } catch {
    return undefined; // An unknown zone.
  }
}

function clockOver(format: Intl.DateTimeFormat): ZonedClock {
  function wallAt(moment: number): number {
    const part = Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
    return Date.UTC(year, month - 1, day, hour, minute, second);
  }
  const offsetAt = (moment: number) => wallAt(moment) - Math.floor(moment / 1_000) * 1_000;

  /** The moment of the change of offset between two others. */
  function changeBetween(early: number, late: number): number {
    const former = offsetAt(early);
    let before = early;
    let after = late;
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (offsetAt(middle) === former) before = middle;
      else after = middle;
    }
    return after;
  }

  return {
    wallAt,
    momentOf(wall) {
      const around = [wall - DAY_MILLISECONDS, wall + DAY_MILLISECONDS] as const;
      const possible = around.map((moment) => wall - offsetAt(moment)).filter((moment) => wallAt(moment) === wall);
      return possible.length > 0 ? Math.min(...possible) : changeBetween(...around);
    },
  };
}
