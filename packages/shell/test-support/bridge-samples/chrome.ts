import type { SamplesOf } from '../samples-of.ts';

export const samples: SamplesOf<'chrome'> = {
  'chrome.set': [
    { title: 'Chapter 2' },
    { surface: 'permissions', appId: 'notes' },
    { surface: 'notifications' },
    { surface: 'platform' },
  ],
};
