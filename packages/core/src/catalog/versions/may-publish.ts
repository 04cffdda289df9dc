// Who may publish here (PLATFORM_PUBLISHERS). What is published stays, also when this changes later.
import { refuse } from '@platform/contract';
import { isMaster } from '../../accounts/face.ts';
import type { CoreContext } from '../../context.ts';

/** @throws RefusalError `not_authorized` */
export async function requirePublisher(
  context: Pick<CoreContext, 'config' | 'database'>,
  accountName: string,
): Promise<void> {
  const { publishers } = context.config;
  if (publishers === 'everyone') return;
  if (publishers === 'master' ? await isMaster(context, accountName) : publishers.includes(accountName)) return;
  throw refuse(
    'not_authorized',
    `${accountName} may not publish apps on this platform. Its operator can allow it (PLATFORM_PUBLISHERS).`,
  );
}
