// What the rest of core may use of object-storage.
export { deleteObjectsOf, mayHaveObjects } from './app-objects.ts';
export { ObjectStoreError, storeReason } from './delete-objects.ts';
export { measureObjects } from './measure-objects.ts';
export { StoreRefusal } from './objects-of-prefix.ts';
export { whyNoStorage } from './offers-storage.ts';
export { CONTENT_PREFIX } from './prefix.ts';
export { type OpenObjects, openObjects } from './store-of-prefix.ts';
