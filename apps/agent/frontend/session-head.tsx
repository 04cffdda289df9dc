// The head of a conversation: its title, which the person can change, and its deletion.
import { useEffect, useRef, useState } from 'preact/hooks';
import { AskFirst } from '../../shared/ask-first.tsx';

interface SessionHeadProps {
  readonly title: string;
  /** The name of its agent, where there are several. */
  readonly profile: string | undefined;
  readonly canRemove: boolean;
  readonly onRename: (title: string) => Promise<boolean>;
  readonly onRemove: () => Promise<void>;
  readonly onBack: () => void;
}

export function SessionHead({ title, profile, canRemove, onRename, onRemove, onBack }: SessionHeadProps) {
  const [isRenaming, setRenaming] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (isRenaming) field.current?.select();
  }, [isRenaming]);
  const shown = title === '' ? 'Without a title' : title;
  return (
    <div class="stage-head">
      <button type="button" class="back" onClick={onBack} aria-label="Back to the conversations">
        ‹
      </button>
      {isRenaming ? (
        <form
          class="row grow"
          onSubmit={(event) => {
            event.preventDefault();
            const given = String(new FormData(event.currentTarget).get('title') ?? '').trim();
            setRenaming(false);
            if (given !== '' && given !== title) void onRename(given);
          }}
        >
          <label class="grow">
            <span class="only-read">Title of this conversation</span>
            <input name="title" defaultValue={title} maxLength={80} ref={field} />
          </label>
          <button type="submit" class="primary">
            Save
          </button>
          <button type="button" onClick={() => setRenaming(false)}>
            Cancel
          </button>
        </form>
      ) : (
        <div class="grow">
          <h2 dir="auto">{shown}</h2>
          {profile !== undefined && <p class="quiet small">{profile}</p>}
        </div>
      )}
      {!isRenaming && (
        <details class="more">
          <summary aria-label="More">⋯</summary>
          <div class="row">
            <button type="button" onClick={() => setRenaming(true)}>
              Rename
            </button>
            {canRemove && (
              <AskFirst
                word="Delete"
                name="this conversation"
                question="Delete it for good?"
                yes="Yes, delete"
                onYes={() => void onRemove()}
              />
            )}
          </div>
        </details>
      )}
    </div>
  );
}
