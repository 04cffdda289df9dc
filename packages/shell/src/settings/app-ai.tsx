// One app's use of AI models this month and its limit, on the app's page.
import { call } from '../api/client.ts';
import { Note, Skeleton } from '../design/controls.tsx';
import { addressOf } from '../view.ts';
import { UseTable } from './ai-chart.tsx';
import { AppLimit } from './app-limit.tsx';
import { useReading } from './reading.ts';

export function AppAi({ appId, name }: { readonly appId: string; readonly name: string }) {
  const reading = useReading(() => call('apps.intelligence.read', { params: { appId } }));
  const intelligence = reading.value;
  if (reading.failure !== null) return <Note tone="danger">{reading.failure}</Note>;
  if (intelligence === null) return <Skeleton lines={1} label="Loading what it used" />;
  return (
    <>
      <AppLimit appId={appId} name={name} intelligence={intelligence} onChanged={reading.put} />
      <UseTable apps={[{ appId, name, intelligence }]} />
      <p>
        <a class="link" href={addressOf({ kind: 'settings', page: 'ai' })}>
          Keys and all apps
        </a>
      </p>
    </>
  );
}
