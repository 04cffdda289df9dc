// The enrolment token as an operator carries it from core to a new node or Ingress: the secret, and how to know the right core.
import * as z from 'zod';
import type { MemberKind } from './domains/members.ts';

const TOKEN = /^(p[ni]e_[A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{1,1000})$/;

const contents = z.strictObject({
  /** Host under which core is addressed, e.g. `cloud.example.org` or `shell.platform.localhost:8787`. */
  host: z.string().min(1).max(260),
  /** Core's link key, 32 bytes, base64url: proven by its link listener. */
  key: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
});

export interface EnrolmentToken extends z.infer<typeof contents> {
  /** What core is shown: `pne_…` for a node, `pie_…` for an Ingress; works once, for an hour. */
  readonly secret: string;
}

/** `<secret>.<base64url of JSON with host and key>`, as an operator pastes it on the machine that joins. */
export function writeEnrolmentToken({ secret, host, key }: EnrolmentToken): string {
  // Both are ASCII.
  const rest = btoa(JSON.stringify({ host, key })).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  return `${secret}.${rest}`;
}

/** How the secrets of tokens begin. */
export const enrolmentPrefixes = { node: 'pne_', ingress: 'pie_' } as const satisfies Record<MemberKind, string>;

/** The parts of a token for a member of this kind, or `null` for anything else. */
export function readEnrolmentToken(token: string, kind: MemberKind = 'node'): EnrolmentToken | null {
  const [, secret, rest] = TOKEN.exec(token) ?? [];
  if (secret === undefined || rest === undefined || !secret.startsWith(enrolmentPrefixes[kind])) return null;
  try {
    return { secret, ...contents.parse(JSON.parse(atob(rest.replaceAll('-', '+').replaceAll('_', '/')))) };
  } catch {
    return null;
  }
}
