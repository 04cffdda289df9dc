import type { SamplesOf } from '../samples-of.ts';

export const samples: SamplesOf<'downloads'> = {
  'downloads.save': [{ file: new Blob(['x']), name: 'list.csv' }],
};
