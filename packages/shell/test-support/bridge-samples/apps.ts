import type { SamplesOf } from '../samples-of.ts';

export const samples: SamplesOf<'apps'> = {
  'apps.list': [{}, { scope: 'installed' }, { scope: 'catalog', icons: 'path' }],
  'apps.icon': [{ appId: 'chess', version: '1.0.0' }],
  'apps.details': [{ appId: 'chess', version: '1.0.0' }],
  'apps.screenshot': [{ appId: 'chess', version: '1.0.0', number: 1 }],
  'apps.withdraw': [{ appId: 'chess', version: '1.0.0' }],
  'apps.open': [{ appId: 'notes', target: '?note=1' }],
  'apps.start': [{ appId: 'notes' }],
  'apps.stop': [{ appId: 'notes' }],
  'apps.return': [{}],
  'apps.requestInstall': [{ appId: 'chess', version: '1.0.0' }],
  'apps.create': [{ draftId: 'drf-0192f0c1-2d3e-7a4b-8c5d-6e7f80910203' }],
  'apps.uninstall': [{ appId: 'notes' }, { appId: 'store' }],
};
