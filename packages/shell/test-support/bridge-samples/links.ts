import type { SamplesOf } from '../samples-of.ts';

export const samples: SamplesOf<'links'> = {
  'links.open': [{ url: 'https://example.org/page' }],
};
