// What the rest of core may use of messaging.
export { accountOfAddress } from './account-queries.ts';
export { addressText, parseAddress, userIdOf } from './addresses.ts';
export { tryConversationKeys } from './bundled/try-conversation-keys.ts';
