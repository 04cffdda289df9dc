// What benches and tests of the whole system use of core's insides: figures of one function, and a capability that a bench
// makes. A test of core imports the files themselves.
export { openingsOf } from '../src/config/close-folder.ts';
export { newId } from '../src/credentials/ids.ts';
export type { OwnedTables, OwnedViews } from '../src/database/schema.ts';
export type { OwnedSignals } from '../src/database/signals.ts';
export { heldItems } from '../src/http/streamed-items.ts';
export type { BackendAnswer, BackendRequest } from '../src/nodes/call-backend.ts';
export { nothingListens } from '../src/points.ts';
export { encryptFor } from '../src/push/encrypt.ts';
export type { IndexOwner } from '../src/search/index-queries.ts';
export { openSearchPool, postgresEngine } from '../src/search/postgres-engine.ts';
export { prepareHere } from '../src/search/prepare-entries.ts';
export { SearchQuery } from '../src/search/search-query.ts';
export { MARK_LENGTH } from '../src/search/word-mark.ts';
export { replaceIndex } from '../src/search/write-index.ts';
export { archiveOf } from './vector-archives.ts';
