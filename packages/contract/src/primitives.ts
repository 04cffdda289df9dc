// Shapes that many schemas share: ids, names, timestamps, prefixes of credentials (contract 1 and 2).
import * as z from 'zod';

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';

function prefixedId<Prefix extends string>(prefix: Prefix) {
  return z
    .string()
    .regex(new RegExp(`^${prefix}-${UUID}$`), `must be an id that starts with ${prefix}-`)
    .brand<Prefix>();
}

export const installationId = prefixedId('inst');
export type InstallationId = z.infer<typeof installationId>;
export const notificationId = prefixedId('ntf');
export type NotificationId = z.infer<typeof notificationId>;
export const pushSubscriptionId = prefixedId('psh');
export type PushSubscriptionId = z.infer<typeof pushSubscriptionId>;
export const workLeaseId = prefixedId('lease');
export type WorkLeaseId = z.infer<typeof workLeaseId>;
export const workflowId = prefixedId('wf');
export type WorkflowId = z.infer<typeof workflowId>;
export const activityId = prefixedId('act');
export type ActivityId = z.infer<typeof activityId>;
export const scheduleId = prefixedId('sch');
export type ScheduleId = z.infer<typeof scheduleId>;
export const draftId = prefixedId('drf');
export type DraftId = z.infer<typeof draftId>;
export const webSearchId = prefixedId('wsr');
export type WebSearchId = z.infer<typeof webSearchId>;
export const contactId = prefixedId('ctc');
export type ContactId = z.infer<typeof contactId>;
export const collectionId = prefixedId('col');
export type CollectionId = z.infer<typeof collectionId>;
export const memberId = prefixedId('mem');
export type MemberId = z.infer<typeof memberId>;
export const contentInvitationId = prefixedId('civ');
export type ContentInvitationId = z.infer<typeof contentInvitationId>;
export const fileId = prefixedId('fil');
export type FileId = z.infer<typeof fileId>;

/** RFC 3339, UTC, milliseconds. The calendar of the database has no year 0. */
export const timestamp = z.iso
  .datetime({ precision: 3 })
  .refine((text) => !text.startsWith('0000'), 'must be of the year 1 or later');

/** What an `integer` of the database holds at most. */
export const MOST_COUNTED = 2_147_483_647;

/** Of TCP or UDP. */
export const portNumber = z.int().min(1).max(65_535);

const RESERVED_ACCOUNT_NAMES = new Set([
  'about',
  'account',
  'accounts',
  'admin',
  'administrator',
  'agent',
  'api',
  'app',
  'apps',
  'auth',
  'billing',
  'contacts',
  'core',
  'fleet',
  'gateway',
  'help',
  'info',
  'ingress',
  'launcher',
  'localhost',
  'login',
  'logout',
  'mail',
  'master',
  'me',
  'moderator',
  'nobody',
  'node',
  'notifications',
  'null',
  'official',
  'operator',
  'owner',
  'platform',
  'postmaster',
  'register',
  'root',
  'schedules',
  'security',
  'self',
  'service',
  'session',
  'settings',
  'shell',
  'staff',
  'status',
  'store',
  'support',
  'system',
  'trust',
  'undefined',
  'verified',
  'wallet',
  'webmaster',
  'www',
]);

/** Account name (contract 2): lower-cased first, 3 to 32 characters, letters, digits and single inner hyphens. */
export const accountName = z
  .string()
  .max(64)
  .transform((name) => name.toLowerCase())
  .pipe(
    z
      .string()
      .min(3, 'must have at least 3 characters')
      .max(32, 'must have at most 32 characters')
      .regex(
        /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/,
        'must start with a letter and contain only letters, digits and single hyphens, none at the end',
      )
      .refine((name) => !RESERVED_ACCOUNT_NAMES.has(name), 'is reserved'),
  );

/** App id (contract 3). */
export const appId = z
  .string()
  .min(3)
  .max(40)
  .regex(
    /^[a-z0-9]+(-[a-z0-9]+)*$/,
    'must contain only lower-case letters, digits and single hyphens, none at the ends',
  );

/** SemVer 2.0.0, https://semver.org — the pattern published there. */
export const version = z
  .string()
  .max(64)
  .regex(
    /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$/,
    'must be a semantic version such as 1.0.0',
  );

export const credentialPrefixes = {
  frontend: 'pfc_',
  dataPlane: 'pdc_',
  gateway: 'pgw_',
  core: 'pcs_',
  node: 'pnd_',
  ingress: 'pin_',
  author: 'pat_',
  connection: 'pct_',
} as const;
export type CredentialKind = keyof typeof credentialPrefixes;
