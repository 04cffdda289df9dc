// What the rest of core may use of connections.
export type { DocumentOptions } from './oauth/client-documents.ts';
export { connectServer } from './oauth/serve.ts';
