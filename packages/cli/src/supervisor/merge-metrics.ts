// The metrics of several processes as one text for Prometheus, which wants all samples of a metric in one place.
import { partMetrics } from '@platform/contract';
import type { PartState } from './kept-part.ts';

interface Family {
  /** `# HELP` and `# TYPE`, which are the same in every text. */
  readonly head: Set<string>;
  readonly samples: string[];
}

/** @param texts in the format 0.0.4; a metric in several of them has labels that distinguish its series */
export function mergeMetrics(texts: readonly string[]): string {
  const families = new Map<string, Family>();
  for (const text of texts) {
    let family: Family | undefined;
    for (const line of text.split('\n')) {
      const [, name] = /^# (?:HELP|TYPE) (\S+)/.exec(line) ?? [];
      if (name !== undefined) {
        family = families.get(name) ?? { head: new Set(), samples: [] };
        families.set(name, family);
        family.head.add(line);
      } else if (line !== '') family?.samples.push(line);
    }
  }
  return `${[...families.values()].flatMap(({ head, samples }) => [...head, ...samples]).join('\n')}\n`;
}

/** What the supervisor itself knows of the parts. */
export function metricsOfParts(parts: readonly PartState[]): string {
  const values = {
    platform_part_up: (part: PartState) => (part.pid === null ? 0 : 1),
    platform_part_restarts_total: (part: PartState) => part.restarts,
  } satisfies Record<keyof typeof partMetrics, (part: PartState) => number>;
  return Object.entries(values)
    .flatMap(([name, value]) => {
      const { meaning, type } = partMetrics[name as keyof typeof partMetrics];
      const samples = parts.map((part) => `${name}{part="${part.name.toLowerCase()}"} ${value(part)}`);
      return [`# HELP ${name} ${meaning}`, `# TYPE ${name} ${type}`, ...samples];
    })
    .join('\n');
}
