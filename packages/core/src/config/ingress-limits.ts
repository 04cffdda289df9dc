// What strangers may take of an Ingress, and where it writes what they asked for.
import * as path from 'node:path';
import { integerOf, type Read, textOf, wrong } from './variables.ts';

export interface IngressLimitSettings {
  readonly ingressLimits: {
    /** Requests per second of one client network to one installation. */
    readonly rate: number;
    readonly burst: number;
    /** Open at a time for one installation. */
    readonly concurrency: number;
    readonly bodyBytes: number;
    readonly headBytes: number;
  };
  /** Of the access log. */
  readonly ingressLog: 'off' | 'stdout' | { readonly file: string };
}

const MOST = 1_000_000;

export function readIngressLimits(read: Read): IngressLimitSettings {
  return {
    ingressLimits: {
      rate: integerOf(read, 'PLATFORM_INGRESS_RATE', 1, MOST),
      burst: integerOf(read, 'PLATFORM_INGRESS_BURST', 1, MOST),
      concurrency: integerOf(read, 'PLATFORM_INGRESS_CONCURRENCY', 1, MOST),
      bodyBytes: integerOf(read, 'PLATFORM_INGRESS_BODY_MIB', 1, 10_240) * 1_024 * 1_024,
      headBytes: integerOf(read, 'PLATFORM_INGRESS_HEADER_KIB', 4, 64) * 1_024,
    },
    ingressLog: readLog(textOf(read, 'PLATFORM_INGRESS_LOG')),
  };
}

function readLog(value: string): IngressLimitSettings['ingressLog'] {
  if (value === 'off' || value === 'stdout') return value;
  if (path.isAbsolute(value)) return { file: path.normalize(value) };
  throw wrong('PLATFORM_INGRESS_LOG', `is "${value}"`, 'set it to stdout, off, or an absolute path');
}
