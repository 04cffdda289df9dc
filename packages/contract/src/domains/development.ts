// Trying out an app while it is written: `platform dev` installs each state of a folder as an app of its own.
import * as z from 'zod';
import type { Routes } from '../domain.ts';
import { version } from '../primitives.ts';
import { json, ofApp } from './common.ts';
import { grant } from './grants.ts';

export const developBody = z.strictObject({ version });

export const developed = z.strictObject({
  name: z.string(),
  hasBackend: z.boolean(),
  /** Why its backend does not run, in a sentence; absent where it does, or there is none. */
  problem: z.string().optional(),
  /** What the manifest requests and its author has not granted. */
  missing: z.array(grant),
});
export type Developed = z.infer<typeof developed>;

const routes = {
  'development.install': {
    method: 'PUT',
    path: '/v1/development/:appId',
    summary: 'Install a published development version of one’s own, or change to it; grants nothing',
    callers: ['author'],
    params: ofApp,
    body: json(developBody, 1_024),
    answers: { 200: developed },
    refuses: ['account_share', 'disk_quota', 'placement_not_allowed', 'grants_exceed_request', 'workload_unavailable'],
    rate: 'session',
  },
} as const satisfies Routes;

export const development = { routes } as const;
