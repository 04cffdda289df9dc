// What the rest of core may use of clients.
export { clientCapability } from './capabilities.ts';
