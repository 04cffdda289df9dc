import type { SamplesOf } from '../samples-of.ts';

const ID = 'ctc-0192f0c1-2d3e-7a4b-8c5d-6e7f80910203';

export const samples: SamplesOf<'contacts'> = {
  'contacts.list': [{}, { limit: 10, cursor: '0' }],
  'contacts.add': [{ address: 'ben' }, { address: '@ben:example.org', label: 'Ben', note: 'one\r\ntwo' }],
  'contacts.edit': [
    { id: ID, label: 'Ben' },
    { id: ID, note: '' },
  ],
  'contacts.remove': [{ id: ID }],
  'contacts.pick': [{}],
};
