// The stop of everything an account runs (specification 5.4, `runtime.pause`), and its end.
import * as z from 'zod';
import type { Errors, Routes } from '../domain.ts';
import { timestamp } from '../primitives.ts';
import { emptyBody, json } from './common.ts';

const errors = {
  runtime_paused: {
    status: 503,
    title: 'All apps of this account are paused.',
    help: 'Resume them from the paused screen of the shell.',
  },
} as const satisfies Errors;

export const accountRuntime = z.strictObject({
  /** Since when nothing of the account runs; `null` while it is not paused. */
  pausedAt: timestamp.nullable(),
});
export type AccountRuntime = z.infer<typeof accountRuntime>;

const routes = {
  'runtime.read': {
    method: 'GET',
    path: '/v1/runtime',
    summary: 'Whether the account is paused',
    callers: ['session'],
    answers: { 200: accountRuntime },
    rate: 'session',
  },
  'runtime.pause': {
    method: 'POST',
    path: '/v1/runtime/pause',
    summary: 'Stop all backends of the account and prevent starts',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'stops everything at once, also for somebody in a hurry; can be taken back' },
    body: json(emptyBody.optional()),
    answers: { 200: accountRuntime },
    rate: 'session',
  },
  'runtime.resume': {
    method: 'POST',
    path: '/v1/runtime/resume',
    summary: 'End the pause',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'runs what is installed' },
    body: json(emptyBody.optional()),
    answers: { 200: accountRuntime },
    rate: 'session',
  },
} as const satisfies Routes;

export const pause = { errors, routes } as const;

declare module '../bridge-calls.ts' {
  interface BridgeCalls {
    /**
     * Grant `runtime.pause` on `*`; only for the app in front. The shell asks the person; `paused` is false when they declined. When they agreed, every
     * frame closes, this one too, and only the shell's own paused surface resumes.
     */
    'runtime.pause': { params: undefined; result: { readonly paused: boolean }; asks: true };
  }
}
