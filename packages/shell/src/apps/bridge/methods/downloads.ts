// Files for the person's device: a frame downloads nothing by itself, so the shell does it, at a press or after a question.
import type { MethodsOf } from '../method.ts';
import { blob, fileNameText } from '../params.ts';

export const downloadMethods: MethodsOf<'downloads'> = {
  'downloads.save': {
    params: { file: blob, name: fileNameText },
    front: true,
    asks: ({ shell, caller, params }) => shell.saveFile(caller.appId, params),
    run: (_, approved) => ({ saved: approved }),
  },
};
