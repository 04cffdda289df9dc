// The catalog: what is published (contract 3).
import * as z from 'zod';
import { requestedGrant } from './grants.ts';
import { manifest } from './manifest.ts';
import { appId, timestamp, version } from './primitives.ts';

export const catalogEntry = z.strictObject({
  appId,
  name: z.string(),
  summary: z.string(),
  version,
  categories: z.array(z.string()),
  /** Account name of the publisher; `platform` for the apps that come with it. */
  publisher: z.string(),
  /** Path on the shell's origin, `null` when the package has none. */
  icon: z.string().nullable(),
  hasFrontend: z.boolean(),
  hasWorkload: z.boolean(),
  publishedAt: timestamp,
});
export type CatalogEntry = z.infer<typeof catalogEntry>;

export const catalogDetail = catalogEntry.extend({
  permissions: z.array(requestedGrant),
  versions: z.array(z.strictObject({ version, hash: z.string(), size: z.int(), publishedAt: timestamp })),
});
export type CatalogDetail = z.infer<typeof catalogDetail>;

export const publishAnswer = z.strictObject({
  appId,
  version,
  /** SHA-256 of the uploaded bytes, hexadecimal. */
  hash: z.string(),
  size: z.int(),
  manifest,
});
export type PublishAnswer = z.infer<typeof publishAnswer>;
