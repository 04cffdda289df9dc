import type { SamplesOf } from '../samples-of.ts';

export const samples: SamplesOf<'search'> = {
  'search.open': [{}],
  'search.query': [{ q: 'notes', limit: 10 }],
};
