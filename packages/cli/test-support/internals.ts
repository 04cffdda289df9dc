// Parts of the command line that tests of the whole platform use by themselves.
export { walkPublicPath } from '../src/public-path/walk.ts';
