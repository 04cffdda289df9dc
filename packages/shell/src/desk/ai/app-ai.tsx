// One app's use of AI models this month, its limits, and what is missing before it can use any: on the app's page.

import { unmetNeeds } from '@platform/contract/unmet-needs';
import { addressOf, settingsAt } from '../../address/view.ts';
import { call } from '../../api/client.ts';
import { useReading } from '../../api/reading.ts';
import { Note, Skeleton } from '../../design/controls.tsx';
import { UnmetList } from '../unmet/unmet-list.tsx';
import { UseTable } from './ai-chart.tsx';
import { costInWords } from './ai-words.ts';
import { AppLimit } from './app-limit.tsx';

/** Of what it needs besides AI, the review spoke. */
const NOTHING_ELSE = { resources: null, backend: null, publicRoutes: [] };

export function AppAi({ appId, name }: { readonly appId: string; readonly name: string }) {
  const reading = useReading(async () => {
    const params = { appId };
    const [intelligence, offers, held] = await Promise.all([
      call('apps.intelligence.read', { params }),
      call('account.offers'),
      call('apps.permissions.read', { params }),
    ]);
    const permissions = held.requested.filter(({ id }) => id === 'intelligence.use');
    return { intelligence, missing: unmetNeeds({ permissions, ...NOTHING_ELSE }, offers) };
  });
  const { value } = reading;
  if (reading.failure !== null) return <Note tone="danger">{reading.failure}</Note>;
  if (value === null) return <Skeleton lines={1} label="Loading what it used" />;
  const { intelligence, missing } = value;
  const { usage, currency } = intelligence;
  const cost = costInWords(usage.models, currency);
  return (
    <>
      <UnmetList name={name} needs={missing} linked />
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
