// What the rest of core may use of connections.
export { connectChallenge, connectOrigin, isConnectPath, readToolsPath, resourceOf } from './addresses.ts';
export { type ConnectionCaller, serves } from './connection-caller.ts';
export type { DocumentOptions } from './oauth/client-documents.ts';
export { type ConnectServer, connectServer } from './oauth/serve.ts';
