import type { SamplesOf } from '../samples-of.ts';

export const samples: SamplesOf<'intelligence'> = {
  'intelligence.usage': [{}],
};
