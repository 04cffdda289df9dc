// What the rest of core may use of secrets.
export { holdSecret, markUsed } from './queries.ts';
export { openSecret } from './sealed-secret.ts';
export { trySecrets } from './try-secrets.ts';
