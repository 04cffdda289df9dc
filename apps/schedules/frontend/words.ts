// Refusals of the platform in the words of the form.
import { PlatformError } from '@platform/sdk/browser';
import { messageOf } from '../../shared/use-loaded.ts';

const FIELDS: Readonly<Record<string, string>> = {
  name: 'The name',
  cron: 'The cron line',
  timeZone: 'The time zone',
  'target.appId': 'The app',
  'target.trigger': 'The task',
  payload: 'The data for the app',
};

export function problemOf(error: unknown): string {
  if (!(error instanceof PlatformError) || error.errors.length === 0) return messageOf(error);
  return error.errors.map(({ path, message }) => `${FIELDS[path] ?? path} ${message}.`).join(' ');
}
