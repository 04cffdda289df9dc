// Who sends a notification that no app sent.

/** The `appId` of notifications of the platform itself, such as of a new passkey. No app has this id (contract 4g). */
export const PLATFORM_SENDER = 'platform';
