// One app's use of AI models this month, its limits, and what is missing before it can use any: on the app's page.

import { addressOf, settingsAt } from '../../address/view.ts';
import { call } from '../../api/client.ts';
import { useReading } from '../../api/reading.ts';
import { Note, Skeleton } from '../../design/controls.tsx';
import { askedModels, missingForAi } from './ai-access.ts';
import { UseTable } from './ai-chart.tsx';
import { costInWords } from './ai-words.ts';
import { AppLimit } from './app-limit.tsx';

export function AppAi({ appId, name }: { readonly appId: string; readonly name: string }) {
  const reading = useReading(async () => {
    const params = { appId };
    const [intelligence, providers, held] = await Promise.all([
      call('apps.intelligence.read', { params }),
      call('account.intelligence.list'),
      call('apps.permissions.read', { params }),
    ]);
    return { intelligence, missing: missingForAi(askedModels(held.requested), providers.items) };
  });
  const { value } = reading;
  if (reading.failure !== null) return <Note tone="danger">{reading.failure}</Note>;
  if (value === null) return <Skeleton lines={1} label="Loading what it used" />;
  const { intelligence, missing } = value;
  const { usage, currency } = intelligence;
  const cost = costInWords(usage.models, currency);
  return (
    <>
      {missing !== null && <Note tone="info">{missing}</Note>}
      <AppLimit
        appId={appId}
        name={name}
        intelligence={intelligence}
        onChanged={(next) => reading.put({ intelligence: next, missing })}
      />
      {cost !== null && <p>{cost}</p>}
      <UseTable apps={[{ appId, name, models: usage.models }]} currency={currency} />
      <p>
        <a class="link" href={addressOf(settingsAt('ai'))}>
          Keys and all apps
        </a>
      </p>
    </>
  );
}
