// How a person arranged the tiles of the home screen. Core keeps it for the account, so that it outlives the app that
// draws it.
import * as z from 'zod';
import type { Limits, Routes } from '../domain.ts';
import { appId } from '../primitives.ts';
import { json } from './common.ts';

const limits = {
  homeTiles: { value: 500, unit: 'items', meaning: 'apps whose place on the home screen is kept' },
} as const satisfies Limits;

const appIds = z
  .array(appId)
  .max(limits.homeTiles.value)
  .refine((ids) => new Set(ids).size === ids.length, 'must name each app once');

/** Apps in neither list come last, sorted by name. */
export const homeTiles = z.strictObject({
  /** Shown first, in this order. */
  pinned: appIds,
  /** All others that the person moved. Apps that are not installed keep their place. */
  order: appIds,
});
export type HomeTiles = z.infer<typeof homeTiles>;

export const homeScreen = homeTiles.extend({
  /** Whether the account ever installed an app that is no part of the platform; once true, it stays so. */
  begun: z.boolean(),
});
export type HomeScreen = z.infer<typeof homeScreen>;

const routes = {
  'home.read': {
    method: 'GET',
    path: '/v1/account/home',
    summary: 'How the tiles of the home screen are arranged, and whether the account ever installed an app',
    callers: ['session'],
    answers: { 200: homeScreen },
    rate: 'session',
  },
  'home.arrange': {
    method: 'PUT',
    path: '/v1/account/home',
    summary: 'Arrange the tiles of the home screen; apps that are not installed keep their place',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'arranges tiles' },
    body: json(homeTiles),
    answers: { 200: homeTiles },
    rate: 'session',
  },
} as const satisfies Routes;

export const home = { limits, routes } as const;

declare module '../bridge-calls.ts' {
  interface BridgeCalls {
    /**
     * Grant `apps.launcher.register` on `self`; only for the app in front, which becomes the account's home screen while it is
     * installed and holds the grant. The shell's message about it offers to undo it.
     */
    'launcher.register': { params: undefined; result: null };
    /** Grant `apps.launcher.register` on `self`; only for the app in front. Launcher becomes the home screen again, whichever app is. */
    'launcher.restore': { params: undefined; result: null };
    /** Only for the home screen, with `apps.launcher.register`: how the person arranged the tiles, and whether they ever had apps of their own. */
    'launcher.tiles': { params: undefined; result: HomeScreen };
    /**
     * Only for the home screen in front, with `apps.launcher.register`: arranges the tiles, for all devices of the account. Apps that are not
     * installed keep their place. The answer is what is kept.
     */
    'launcher.arrange': { params: HomeTiles; result: HomeTiles };
  }
}
