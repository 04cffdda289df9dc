import type { SamplesOf } from '../samples-of.ts';

export const samples: SamplesOf<'search'> = {
  'search.query': [{ q: 'notes', limit: 10 }],
};
