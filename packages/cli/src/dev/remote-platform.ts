// `platform dev` on another platform, with the token of `./platform login`. The token grants nothing: a person does, in the shell.
import { developed, limits } from '@platform/contract';
import { StartError } from '@platform/core/start';
import { followLogs } from '../apps/follow-logs.ts';
import { remoteUnmet } from '../publish/unmet.ts';
import type { Login } from '../remote/logins.ts';
import { RemotePlatform } from '../remote/remote-platform.ts';
import { upload } from '../remote/upload.ts';
import type { DevPlatform, DevTarget } from './target.ts';

export function remotePlatform({ origin, account, token }: Login): DevPlatform {
  const remote = new RemotePlatform(origin, token);
  const target: DevTarget = {
    origin,
    account,
    async deploy({ id, version }, file) {
      await upload(remote, { id, version }, file);
      const { body } = await remote.call({ method: 'PUT', path: `/v1/development/${id}`, json: { version } });
      const parsed = developed.safeParse(body);
      if (!parsed.success)
        throw new StartError('not_a_platform', `${origin} runs another version of the platform than this checkout.`);
      return parsed.data;
    },
    unmet: (manifest) => remoteUnmet(remote, manifest),
    followLogs: (appId, since, signal) =>
      followLogs((start, until) => remote.followLogs(appId, start, until), {
        since,
        newest: limits.workloadLogLines.value,
        signal,
      }),
  };
  return {
    origin: () => origin,
    // It is asked with each change; nothing here ends with it.
    life: () => origin,
    require: () => remote.require(),
    answers: () => remote.answers(),
    use: (work) => work(target),
  };
}
