import type { SamplesOf } from '../samples-of.ts';

export const samples: SamplesOf<'state'> & SamplesOf<'place'> = {
  'state.get': [{}],
  'state.set': [{ json: '{"draft":"Milk"}' }, { json: 'null' }],
  'place.set': [{ place: '/notes/1?page=2#end' }],
};
