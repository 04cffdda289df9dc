// Whether a replica of core answers.
import * as z from 'zod';
import type { Routes } from '../domain.ts';

const routes = {
  'health.read': {
    method: 'GET',
    path: '/v1/health',
    summary: 'Whether this replica can serve requests',
    callers: ['anonymous'],
    answers: { 200: z.strictObject({ status: z.literal('ok'), version: z.string() }) },
    rate: 'none',
  },
} as const satisfies Routes;

export const health = { routes } as const;
