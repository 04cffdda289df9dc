// The resource use of a running backend, in words.
import type { WorkloadUse } from '@platform/contract';
import { duration, sizeText } from '../../design/words.ts';

type Traffic = WorkloadUse['network']['outbound'];

/** `12 % of one processor`; over one processor `140 % of 2 processors`. */
export function processorNow({ share, limit }: WorkloadUse['cpu']): string {
  if (share === null) return 'Unknown';
  return `${percent(share)} of ${limit === 1 ? 'one processor' : `${limit} processors`}`;
}

export function processorSoFar({ milliseconds }: WorkloadUse['cpu']): string {
  return milliseconds === null
    ? 'This machine can’t measure it.'
    : `${duration(milliseconds)} of processor time since it started`;
}

export function memoryNow({ bytes: now, limitBytes }: WorkloadUse['memory']): string {
  return now === null ? 'Unknown' : `${sizeText(now)} of ${sizeText(limitBytes)}`;
}

export function memorySoFar({ bytes: now, peakBytes }: WorkloadUse['memory']): string {
  if (now === null) return 'This machine can’t measure it.';
  return peakBytes === null ? 'Current use' : `Peak ${sizeText(peakBytes)}, including file cache`;
}

export function networkNow({ outbound, inbound, public: open }: WorkloadUse['network']): string {
  const all = [outbound, inbound, ...(open === null ? [] : [open])];
  const sum = (name: 'sentBytes' | 'receivedBytes') => all.reduce((total, one) => total + one[name], 0);
  return `${sizeText(sum('sentBytes'))} sent, ${sizeText(sum('receivedBytes'))} received`;
}

/** One line for each way in and out. */
export function networkSoFar({ outbound, inbound, public: open }: WorkloadUse['network']): string[] {
  return [
    `Incoming requests: ${traffic(inbound)}`,
    `Requests to the platform: ${traffic(outbound)}`,
    ...(open === null ? [] : [`Internet: ${sizeText(open.sentBytes)} sent, ${sizeText(open.receivedBytes)} received`]),
  ];
}

function traffic({ requests, sentBytes, receivedBytes }: Traffic): string {
  if (requests === 0) return 'none yet';
  return `${requests.toLocaleString('en')}, ${sizeText(sentBytes)} sent, ${sizeText(receivedBytes)} received`;
}

export function droppedLines(lines: number): string | null {
  if (lines === 0) return null;
  const many = lines.toLocaleString('en');
  return `${many} log ${lines === 1 ? 'line was' : 'lines were'} dropped because the app logged too fast.`;
}

function percent(share: number): string {
  const value = share * 100;
  if (value > 0 && value < 1) return 'under 1 %';
  return `${Math.round(value)} %`;
}
