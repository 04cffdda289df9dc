// What the rest of core may use of search.
export { countEntries } from './count-queries.ts';
export { type FeedStatus, feedStatus, rebuildFeed } from './manage-feed.ts';
export { openSearching, type Searching } from './open-searching.ts';
export { openSearchPool, postgresEngine } from './postgres-engine.ts';
