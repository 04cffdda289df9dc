// What the rest of core may use of leases.
export { countLeases } from './queries.ts';
