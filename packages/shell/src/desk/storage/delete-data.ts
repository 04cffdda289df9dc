// Deletes all data of an app, installed or removed, and what this page kept of it.
import { call } from '../../api/client.ts';
import { forgetApp } from '../../apps/frames/kept.ts';

/** @throws ApiError */
export async function deleteData(appId: string): Promise<void> {
  await call('apps.data.delete', { params: { appId } });
  forgetApp(appId);
}
