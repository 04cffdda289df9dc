// The questions before the master account changes what others have: accounts and invitations. Loaded with the first of them.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { Button, Note } from '../../design/controls.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { Icon, type IconName } from '../../design/icons.tsx';
import { onDay } from '../../design/words.ts';
import { confirmWithPasskey } from '../../session/confirm.ts';
import { type Failure, failureOf } from '../../session/failure.ts';
import { type Asked, carriedOut } from './ask.tsx';
import type { OperatorMatter } from './ask-operator.ts';
import { changeWords } from './operator-words.ts';
import { AskerLine, Decision } from './parts.tsx';

type Matter<Kind extends OperatorMatter['kind']> = Extract<OperatorMatter, { kind: Kind }>;

export function OperatorReview({ asked }: { readonly asked: Asked & { readonly matter: OperatorMatter } }) {
  const { matter } = asked;
  if (matter.kind === 'invite') return <InviteReview asked={asked} matter={matter} />;
  if (matter.kind === 'uninvite') return <UninviteReview asked={asked} matter={matter} />;
  return <ChangeReview asked={asked} matter={matter} />;
}

interface ReviewProps<Kind extends OperatorMatter['kind']> {
  readonly asked: Asked;
  readonly matter: Matter<Kind>;
}

/** The work behind an approval: its state, and what went wrong. */
function useWork(work: () => Promise<void>) {
  const working = useSignal(false);
  const failure = useSignal<Failure | null>(null);
  async function begin(): Promise<void> {
    working.value = true;
    failure.value = null;
    try {
      await work();
    } catch (error) {
      failure.value = failureOf(error);
    }
    working.value = false;
  }
  const note = failure.value !== null && <Note tone={failure.value.tone}>{failure.value.text}</Note>;
  return { working: working.value, note, begin };
}

function Title({ icon, neutral, text }: { readonly icon: IconName; readonly neutral: boolean; readonly text: string }) {
  return (
    <div class="prompt-app">
      <span class={neutral ? 'prompt-picture neutral' : 'prompt-picture'}>
        <Icon name={icon} size={28} />
      </span>
      <h2 id="prompt-title">{text}</h2>
    </div>
  );
}

function ChangeReview({ asked, matter }: ReviewProps<'change'>) {
  const { name, change } = matter;
  const words = changeWords(name, change);
  const { working, note, begin } = useWork(async () => {
    const params = { name };
    if (change === 'suspend') await call('operator.accounts.suspend', { params, body: {} });
    else if (change === 'resume') await call('operator.accounts.resume', { params, body: {} });
    else if (change === 'delete') {
      const confirmation = await confirmWithPasskey('operator.account.delete');
      await call('operator.accounts.delete', { params, body: { name, confirmation } });
    } else await call('operator.accounts.plan', { params, body: { plan: PLANS[change] } });
    asked.answer(true);
  });
  return (
    <>
      <AskerLine asker={asked.asker} wants={words.wants} />
      <Title icon={words.icon} neutral={!words.danger} text={words.title} />
      {words.text !== '' && <p>{words.text}</p>}
      {words.effects.length > 0 && (
        <ul class="breaks">
          {words.effects.map((effect) => (
            <li key={effect}>{effect}</li>
          ))}
        </ul>
      )}
      {change === 'delete' && <p class="quiet-text">You confirm with your passkey.</p>}
      {note}
      <Decision
        no={words.no}
        yes={working ? words.doing : words.yes}
        danger={words.danger}
        busy={working}
        onNo={() => asked.answer(false)}
        onYes={() => void begin()}
      />
    </>
  );
}

const PLANS = { 'plan-free': 'free', 'plan-paid': 'paid', 'plan-default': null } as const;

function InviteReview({ asked, matter: { name } }: ReviewProps<'invite'>) {
  const made = useSignal<{ readonly url: string; readonly expiresAt: string } | null>(null);
  const { working, note, begin } = useWork(async () => {
    const { invitation } = await call('operator.invitations.create', { body: name === null ? {} : { name } });
    carriedOut.value = true;
    made.value = invitation;
  });
  if (made.value !== null) return <Made name={name} {...made.value} onDone={() => asked.answer(true)} />;
  return (
    <>
      <AskerLine asker={asked.asker} wants="wants to invite somebody to this platform:" />
      <Title icon="key" neutral text={name === null ? 'Create an invitation?' : `Invite ${name}?`} />
      <p>
        You get a link with which one person can register once
        {name === null ? ', under any free name.' : <> as “{name}”.</>}
      </p>
      {note}
      <Decision
        no="Cancel"
        yes={working ? 'Creating …' : 'Create link'}
        busy={working}
        onNo={() => asked.answer(false)}
        onYes={() => void begin()}
      />
    </>
  );
}

interface MadeProps {
  readonly name: string | null;
  readonly url: string;
  readonly expiresAt: string;
  readonly onDone: () => void;
}

/** The link is shown this once; core keeps its hash alone. */
function Made({ name, url, expiresAt, onDone }: MadeProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <>
      <h2 id="prompt-title" ref={heading} tabIndex={-1}>
        {name === null ? 'Invitation link' : `Invitation link for ${name}`}
      </h2>
      <p>
        Works once, until {onDay(expiresAt)}. Copy it now: it is not shown again. Anyone who has it can register, so
        send it over a channel you trust.
      </p>
      <p class="prompt-address">
        <strong>{url}</strong>
      </p>
      <div class="decision">
        <CopyButton text={url} what="the link" kind="primary" />
        <Button onClick={onDone}>Done</Button>
      </div>
    </>
  );
}

function UninviteReview({ asked, matter: { invitation } }: ReviewProps<'uninvite'>) {
  const { id, name, expiresAt } = invitation;
  const { working, note, begin } = useWork(async () => {
    await call('operator.invitations.revoke', { params: { id } });
    asked.answer(true);
  });
  return (
    <>
      <AskerLine asker={asked.asker} wants="wants to withdraw an invitation:" />
      <Title
        icon="key"
        neutral={false}
        text={name === null ? 'Withdraw this invitation?' : `Withdraw the invitation for ${name}?`}
      />
      <p>
        Its link stops working immediately. {name === null && 'It is for any name. '}It would have worked until{' '}
        {onDay(expiresAt)}.
      </p>
      {note}
      <Decision
        no="Keep it"
        yes={working ? 'Withdrawing …' : 'Withdraw'}
        danger
        busy={working}
        onNo={() => asked.answer(false)}
        onYes={() => void begin()}
      />
    </>
  );
}
