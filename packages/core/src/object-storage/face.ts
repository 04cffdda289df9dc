// What the rest of core may use of object-storage.
export { deleteObjectsOf, mayHaveObjects } from './app-objects.ts';
export { ObjectStoreError } from './delete-objects.ts';
export { measureObjects } from './measure-objects.ts';
export { whyNoStorage } from './offers-storage.ts';
