// What the rest of core may use of offers.
export { unmetOf } from './unmet.ts';
