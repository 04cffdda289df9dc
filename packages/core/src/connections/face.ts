// What the rest of core may use of connections.
export { type ConnectionCaller, findConnectionById, serves } from './connection-caller.ts';
export type { DocumentOptions } from './oauth/client-documents.ts';
export { connectServer } from './oauth/serve.ts';
