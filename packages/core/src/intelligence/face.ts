// What the rest of core may use of intelligence.
export { tryProviderKeys } from './try-provider-keys.ts';
