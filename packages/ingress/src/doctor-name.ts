// The host names under which an Ingress answers `platform doctor` (answer-doctor.ts), and nobody else: only the
// holder of the Ingress's private key can make one, and each ends after two minutes. Any other name of this form is 421
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
  const isNow = recentOnes((slot) => labelOf(key, slot), clock);
  return (host) => {
    const label = host.split('.', 1)[0]?.toLowerCase() ?? '';
    return LABEL.test(label) && isNow(label);
  };
}

/**
 * @returns what the doctor shows besides on its own machine, for what nobody else may read: its names pass through proxies
 * and are seen by who watches the line
 */
export function doctorProof(key: LinkKey, at: Date): string {
  return proofOf(key, slotOf(at));
}

/** @returns whether a text is such a proof now */
export function doctorProofs(key: LinkKey, clock: () => Date): (text: string) => boolean {
  return recentOnes((slot) => proofOf(key, slot), clock);
}

/** Made once a minute, however often strangers guess. */
function recentOnes(make: (slot: number) => string, clock: () => Date): (text: string) => boolean {
  let made = { slot: Number.NaN, texts: [] as readonly string[] };
  return (text) => {
    const slot = slotOf(clock());
    if (made.slot !== slot) made = { slot, texts: [slot - 1, slot, slot + 1].map(make) };
    return made.texts.includes(text);
  };
}

function slotOf(at: Date): number {
  return Math.floor(at.getTime() / SLOT_MILLISECONDS);
}

function labelOf(key: LinkKey, slot: number): string {
  return PREFIX + digestOf(key, 'platform ingress doctor v1', slot);
}

function proofOf(key: LinkKey, slot: number): string {
  return digestOf(key, 'platform ingress doctor certificates v1', slot);
}

function digestOf(key: LinkKey, purpose: string, slot: number): string {
  return createHash('sha256')
    .update(signText(key, `${purpose}\n${slot}`))
    .digest('hex')
    .slice(0, 20);
}
