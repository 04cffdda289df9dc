import type { SamplesOf } from '../samples-of.ts';

export const samples: SamplesOf<'launcher'> = {
  'launcher.register': [{}],
  'launcher.restore': [{}],
  'launcher.tiles': [{}],
  'launcher.arrange': [{ pinned: ['notes'], order: ['store'] }],
};
