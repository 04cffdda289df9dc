// Draws the flash: from the bounded fields of a record only, outside every frame, below every trusted prompt. It takes
// no focus; the two regions exist from the start, so that screen readers announce what is put into them.
import type { Notification } from '@platform/contract';
import { useLayoutEffect, useState } from 'preact/hooks';
import { findApp } from '../../apps/installed-apps.ts';
import { Button, IconButton } from '../../design/controls.tsx';
import { prompt } from '../prompts/ask.tsx';
import { createPressGuard } from '../prompts/guard.ts';
import { flash, flashesWaiting } from './flashes.ts';
import { dismissNotification, openNotification } from './inbox.ts';
import { canBeOpened, SenderPicture, senderName } from './sender.tsx';

export function FlashRegion() {
  const [guard] = useState(() => createPressGuard(() => performance.now()));
  const record = prompt.value === null ? flash.value : null;
  const isAlert = record?.priority === 'critical';
  // A press that was meant for what stood there before does not count in a flash that came under the pointer.
  useLayoutEffect(() => guard.arm(), [record?.id]);
  return (
    <section
      class={`flashes as-${record?.presentation?.mode ?? 'card'}`}
      aria-label="Important notifications"
      onClickCapture={(event) => {
        if (guard.press()) return;
        event.preventDefault();
        event.stopPropagation();
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && record !== null) dismissNotification(record);
      }}
    >
      <div role="alert">{record !== null && isAlert && <Flash key={record.id} record={record} />}</div>
      <div role="status">{record !== null && !isAlert && <Flash key={record.id} record={record} />}</div>
    </section>
  );
}

function Flash({ record }: { readonly record: Notification }) {
  const { tone = 'neutral', layout = 'standard', actions = [] } = record.presentation ?? {};
  const waiting = flashesWaiting.value;
  return (
    <div class={`flash ${tone} ${layout}-layout ${record.priority}`}>
      <SenderPicture appId={record.appId} size={layout === 'hero' ? 'middle' : 'small'} />
      <div class="flash-text">
        <p class="flash-about">
          <span class="only-read">{record.priority === 'critical' ? 'Critical' : 'Important'}, from </span>
          {senderName(record)}
          {waiting > 0 && ` · ${waiting} more waiting`}
        </p>
        <p class="flash-title">{record.title}</p>
        {record.body !== '' && <p class="flash-body">{record.body}</p>}
        {canBeOpened(record) && (
          <p class="record-actions">
            {actions.length === 0 && findApp(record.appId)?.hasFrontend === true && (
              <Button onClick={() => openNotification(record, null)}>Open</Button>
            )}
            {actions.map((action) => (
              <Button
                key={action.id}
                kind={action.style === 'secondary' ? 'plain' : action.style}
                onClick={() => openNotification(record, action.target ?? null)}
              >
                {action.label}
              </Button>
            ))}
          </p>
        )}
      </div>
      <IconButton icon="close" label={`Dismiss “${record.title}”`} onClick={() => dismissNotification(record)} />
    </div>
  );
}
