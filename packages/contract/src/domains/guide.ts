// What an operator sets up at the beginning, and how far that is. The shell shows it to the first account as long as nobody is
// the operator, then to the operator, and Fleet keeps it.
import * as z from 'zod';
import type { Routes } from '../domain.ts';
import { emptyBody, json } from './common.ts';

const counted = z.int().min(0);

export const setupState = z.strictObject({
  /** Names of the AI providers, as people read them. */
  providers: z.array(z.string()),
  /** Whether apps can keep objects in an S3 store. */
  objectStore: z.boolean(),
  address: z.strictObject({
    origin: z.string(),
    /** Nothing but this machine reaches it. */
    local: z.boolean(),
  }),
  registration: z.strictObject({
    mode: z.enum(['open', 'invite', 'closed']),
    accounts: counted,
    /** Invitations that wait to be used. */
    invitations: counted,
  }),
  /** Nodes, and those of them that take backends now. */
  machines: z.strictObject({ total: counted, ready: counted }),
});
export type SetupState = z.infer<typeof setupState>;

export const operatorGuide = z.strictObject({
  /** `first`: nobody is the operator, and no account is older than this one. */
  standing: z.enum(['operator', 'first', 'none']),
  /** Whether this account does not want to see it at home. */
  dismissed: z.boolean(),
  /** For the operator alone. */
  setup: setupState.nullable(),
});
export type OperatorGuide = z.infer<typeof operatorGuide>;

const routes = {
  'operator.guide.read': {
    method: 'GET',
    path: '/v1/operator/guide',
    summary: 'Whether this account is the operator or could become it, and what the operator has set up',
    callers: ['session'],
    answers: { 200: operatorGuide },
    rate: 'session',
  },
  'operator.guide.dismiss': {
    method: 'POST',
    path: '/v1/operator/guide/dismiss',
    summary: 'Hide the guide for operators at home',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'hides a card' },
    body: json(emptyBody),
    answers: { 204: null },
    rate: 'session',
  },
} as const satisfies Routes;

export const guide = { routes } as const;

declare module '../bridge-calls.ts' {
  interface BridgeCalls {
    /** Only for the platform's own Fleet, with `system.inventory.read` on `*`; core refuses every account but the master account. */
    'system.setup': { params: undefined; result: SetupState };
  }
}
