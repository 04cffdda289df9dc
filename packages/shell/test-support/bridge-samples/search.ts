import type { SamplesOf } from '../samples-of.ts';

export const samples: SamplesOf<'search'> = {
  'search.index': [
    { entries: [] },
    { entries: [{ id: 'n1', title: 'Milk', kind: 'note', url: '?note=1', text: 'bread' }] },
  ],
  'search.open': [{}],
  'search.query': [{ q: 'notes', limit: 10 }],
};
