import type { SamplesOf } from '../samples-of.ts';

export const samples: SamplesOf<'files'> = {
  'files.pick': [{}, { access: 'write' }],
  'files.save': [{ name: 'report.txt' }],
};
