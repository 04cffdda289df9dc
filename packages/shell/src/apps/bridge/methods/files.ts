// Files of the person: one at a time, which the person picks or takes over.
import type { MethodsOf } from '../method.ts';
import { fileNameText, optional, transferAccess } from '../params.ts';

export const fileMethods: MethodsOf<'files'> = {
  'files.pick': {
    params: { access: optional(transferAccess) },
    front: true,
    asks: ({ shell, caller, params }) => shell.pickFile(caller.appId, params?.access ?? 'read'),
    run: (_, file) => ({ file }),
  },
  'files.save': {
    params: { name: fileNameText },
    front: true,
    asks: ({ shell, caller, params }) => shell.keepFile(caller.appId, params.name),
    run: (_, saved) => ({ saved }),
  },
};
