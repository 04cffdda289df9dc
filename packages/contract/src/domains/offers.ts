// What this platform offers the apps of an account, so that one that cannot work here says so before it is installed. Names
// no machine, no provider's key and no other account: only what the account would find out by installing apps.
import * as z from 'zod';
import type { Routes } from '../domain.ts';
import { processorKinds } from '../executable.ts';
import { version } from '../primitives.ts';
import { ofApp } from './common.ts';
import { workloadRuntime } from './packages.ts';

/** What machines can give a backend besides its runtime. */
export const machineGifts = ['udp', 'tunnel', 'internet'] as const;
export const machineGift = z.enum(machineGifts);
export type MachineGift = z.infer<typeof machineGift>;

export const offers = z.strictObject({
  /** Whether the account is the operator's: what is missing is said with what to do. */
  operator: z.boolean(),
  /** `none`: there is no machine for backends; `closed`: none takes a new one now. */
  backends: z.enum(['open', 'closed', 'none']),
  /** The account is paused, by its owner or the operator: nothing of it runs. */
  paused: z.boolean(),
  /** Machines that take backends of the account, and those alike as one. `null` is unknown. */
  machines: z.array(
    z.strictObject({
      runtimes: z.array(workloadRuntime),
      processor: z.enum(processorKinds).nullable(),
      memoryMiB: z.int().nullable(),
      cpus: z.number().nullable(),
      /** What its volumes may take together. */
      diskMiB: z.int().nullable(),
      gives: z.array(machineGift).nullable(),
    }),
  ),
  /** Bytes of disk that the account may still take. */
  diskBytes: z.int(),
  /** Of the memory of a machine, in per cent, what its backends that never sleep may reserve together. */
  memoryPercent: z.number(),
  /** Public UDP ports that its apps may have together. */
  udpPorts: z.int(),
  /** AI providers; `ready`: there is a key. */
  ai: z.array(z.strictObject({ provider: z.string(), name: z.string(), ready: z.boolean() })),
  objectStorage: z.enum(['offered', 'none', 'plan']),
  /** Of apps on the internet. `local`: under a name that only this machine knows. */
  publicAddress: z.enum(['offered', 'local', 'none']),
});
export type Offers = z.infer<typeof offers>;

export const unmetNeed = z.strictObject({
  /** `blocks`: it cannot be installed. `lacks`: it can, and this part of it does not work. */
  kind: z.enum(['blocks', 'lacks']),
  /** What will not work, and why: whole sentences. */
  text: z.string(),
  /** What can be done about it, in a sentence. */
  next: z.string(),
  /** For the operator: to be typed on the server, or set in its environment. */
  command: z.string().optional(),
  /** Where it is done, as the path of a page of Settings. */
  page: z.enum(['storage', 'ai']).optional(),
});
export type UnmetNeed = z.infer<typeof unmetNeed>;

/** The gravest first. */
export const unmetAnswer = z.strictObject({ unmet: z.array(unmetNeed) });

const routes = {
  'account.offers': {
    method: 'GET',
    path: '/v1/account/offers',
    summary: 'What the platform offers the apps of the account',
    callers: ['session'],
    answers: { 200: offers },
    rate: 'session',
  },
  'development.needs': {
    method: 'GET',
    path: '/v1/development/:appId/needs',
    summary: 'What of a version that its author has published cannot work on this platform',
    callers: ['author'],
    params: ofApp,
    query: z.strictObject({ version }),
    answers: { 200: unmetAnswer },
    rate: 'session',
  },
} as const satisfies Routes;

export const accountOffers = { routes } as const;
