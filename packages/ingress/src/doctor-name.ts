// The host names under which an Ingress answers `platform doctor` (answer-doctor.ts), and nobody else: only who has the
// private key of the Ingress can make one, and each ends after two minutes. Any other name of this form is 421
// `unknown_host` as every unknown name is, so strangers gain nothing and see nothing.
import { createHash } from 'node:crypto';
import { type LinkKey, signText } from '@platform/link';

const PREFIX = 'doctor--';
const LABEL = /^doctor--[0-9a-f]{20}$/;
const SLOT_MILLISECONDS = 60_000;

/** @returns the first label of the host name: 80 bits that follow from the key and the minute */
export function doctorLabel(key: LinkKey, at: Date): string {
  return labelOf(key, slotOf(at));
}

/** @returns whether a host name, with or without a port, is one for the doctor now */
export function doctorNames(key: LinkKey, clock: () => Date): (host: string) => boolean {
  let made = { slot: Number.NaN, labels: [] as readonly string[] };
  return (host) => {
    const label = host.split('.', 1)[0]?.toLowerCase() ?? '';
    if (!LABEL.test(label)) return false;
    const slot = slotOf(clock());
    // Made once a minute, however often strangers guess.
    if (made.slot !== slot) made = { slot, labels: [slot - 1, slot, slot + 1].map((one) => labelOf(key, one)) };
    return made.labels.includes(label);
  };
}

function slotOf(at: Date): number {
  return Math.floor(at.getTime() / SLOT_MILLISECONDS);
}

function labelOf(key: LinkKey, slot: number): string {
  const proof = signText(key, `platform ingress doctor v1\n${slot}`);
  return PREFIX + createHash('sha256').update(proof).digest('hex').slice(0, 20);
}
