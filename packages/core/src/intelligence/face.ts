// What the rest of core may use of intelligence.
export { listProviders } from './provider-keys.ts';
export { tryProviderKeys } from './try-provider-keys.ts';
