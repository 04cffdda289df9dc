// Raw object storage (specification 4.5, contract 4c): what core sends the Gateway of an installation about the store.
import * as z from 'zod';
import { type Errors, type Limits, MiB, type Routes } from '../domain.ts';
import { emptyBody, json } from './common.ts';

/** The one bucket as every app sees it. Where it really is concerns the operator alone. */
export const objectStorageView = { bucket: 'app', region: 'us-east-1' } as const;

const limits = {
  objectStorageBody: {
    value: 16 * MiB,
    unit: 'bytes',
    meaning: 'body of a raw object storage request; larger objects are uploaded in parts',
  },
  objectStorageBodies: {
    value: 4,
    unit: 'items',
    meaning: 'raw object storage requests with a body of one installation at the same time; one more is `SlowDown`',
  },
  objectStorageRate: {
    value: 12_000,
    unit: 'per minute',
    meaning: 'raw object storage requests of one installation, counted by its Gateway; one more is `SlowDown`',
  },
  objectStorageKey: { value: 900, unit: 'bytes', meaning: 'key of an object in raw object storage' },
} as const satisfies Limits;

/** The store and the part of it that is this installation's. Not a public interface; versioned with the platform. */
export const storeOfInstallation = z.strictObject({
  /** Origin of the store. */
  endpoint: z.url(),
  region: z.string(),
  bucket: z.string(),
  /** Whether the bucket stands in the path, or before the host. */
  pathStyle: z.boolean(),
  /** Everything of this installation lies below it; ends with `/`. */
  prefix: z.string().regex(/^installations\/[A-Za-z0-9-]+\/$/),
  /** `{ accessKeyId, secretAccessKey, sessionToken? }` as JSON, sealed for the Gateway. */
  envelope: z.string(),
});
export type StoreOfInstallation = z.infer<typeof storeOfInstallation>;

const errors = {
  plan_required: {
    status: 403,
    title: 'This needs a paid, platform-hosted installation.',
    help: 'Move the installation to a plan that includes the service.',
  },
} as const satisfies Errors;

const routes = {
  'gateway.objectStorage': {
    method: 'POST',
    path: '/v1/gateway/object-storage/authorize',
    summary: 'The store of an installation, for its Gateway',
    callers: ['installation'],
    grant: { id: 'object-storage.raw', resource: 'self' },
    body: json(emptyBody),
    answers: { 200: storeOfInstallation },
    refuses: ['placement_not_allowed', 'plan_required', 'grant_missing', 'not_found'],
    rate: 'service',
  },
} as const satisfies Routes;

export const objectStorage = { limits, errors, routes } as const;
