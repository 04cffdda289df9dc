// The first screen: sign in, create an account, or add a passkey with the operator's link.
import type { RegistrationMode } from '@platform/contract';
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { go, settingsAt } from '../address/view.ts';
import { ApiError } from '../api/api-error.ts';
import { call } from '../api/client.ts';
import { Button, Note } from '../design/controls.tsx';
import { Icon, type IconName, Mark } from '../design/icons.tsx';
import { accountNameProblem } from './account-name.ts';
import { useDraft } from './drafts.ts';
import { enrolmentToken, invitationToken } from './enrolment.ts';
import { type Failure, failureOf as failureOfAny } from './failure.ts';
import { LostPasskey } from './lost-passkey.tsx';
import { passkeyObstacle } from './passkey.ts';
import { enrol, hasSignedInBefore, register, signIn } from './session.ts';

/** The message for every way a ceremony of this screen can fail. */
function failureOf(error: unknown): Failure {
  if (error instanceof ApiError && error.code === 'verification_failed') {
    return {
      text: 'This passkey was not accepted. It may belong to an account that no longer exists here, or the request timed out. Try again, or use another passkey.',
      tone: 'danger',
    };
  }
  if (error instanceof ApiError && error.code === 'origin_not_allowed') {
    return {
      text: `Passkeys do not work at ${location.origin}. Open the platform at the address it printed when it started. ${error.message}`,
      tone: 'danger',
    };
  }
  return failureOfAny(error);
}

function Point({ icon, title, children }: { icon: IconName; title: string; children: ComponentChildren }) {
  return (
    <li>
      <span class="point-icon">
        <Icon name={icon} />
      </span>
      <div>
        <strong>{title}</strong>
        <p>{children}</p>
      </div>
    </li>
  );
}

export function Welcome({ notice }: { readonly notice: string | null }) {
  const obstacle = passkeyObstacle();
  return (
    <main class="welcome">
      <section class="welcome-words" aria-label="About this platform">
        <p class="brand">
          <Mark size={40} />
          <span>Platform</span>
        </p>
        <h1>Your apps, on a machine of your own.</h1>
        <ul class="points">
          <Point icon="key" title="No password">
            You sign in with a passkey: your fingerprint, face or PIN.
          </Point>
          <Point icon="shield" title="Apps ask first">
            Each app gets only what you allow, and you can take it back.
          </Point>
          <Point icon="box" title="Kept apart">
            Every app runs in its own sandbox, with its own data.
          </Point>
        </ul>
      </section>
      <section class="welcome-form" aria-label={enrolmentToken.value === null ? 'Sign in' : 'Add a passkey'}>
        <div class="card">
          {notice !== null && <Note tone="info">{notice}</Note>}
          {obstacle !== null ? (
            <Note tone="danger">{obstacle}</Note>
          ) : enrolmentToken.value !== null ? (
            <EnrolForm token={enrolmentToken.value} />
          ) : (
            <EntryForms />
          )}
        </div>
      </section>
    </main>
  );
}

interface Registration {
  readonly registration: RegistrationMode;
  readonly operator: string | null;
}

/**
 * Who may register here, and whom to ask for help; `null` until core said so. Core decides again at the registration
 * itself.
 */
function useRegistration(): Registration | null {
  const answer = useSignal<Registration | null>(null);
  useEffect(() => {
    call('auth.registration')
      .then((told) => (answer.value = told))
      // The form then says what is wrong.
      .catch(() => (answer.value = { registration: 'open', operator: null }));
  }, []);
  return answer.value;
}

type Form = 'create' | 'sign-in' | 'lost';

/** The form that is shown, as a page of its own: Back leads to the one before. */
function useForms(first: Form): { readonly form: Form; readonly show: (form: Form) => void } {
  const form = useSignal<Form>(first);
  useEffect(() => {
    const back = ({ state }: PopStateEvent) => (form.value = (state as { form?: Form } | null)?.form ?? first);
    window.addEventListener('popstate', back);
    return () => window.removeEventListener('popstate', back);
  }, []);
  return {
    form: form.value,
    show(next) {
      form.value = next;
      history.pushState({ form: next }, '');
    },
  };
}

function EntryForms() {
  const told = useRegistration();
  const invitation = invitationToken.value;
  const first = invitation !== null || !hasSignedInBefore() ? 'create' : 'sign-in';
  const { form, show } = useForms(first);
  const toSignIn = () => {
    invitationToken.value = null;
    show('sign-in');
  };
  if (told === null) return null;
  const { registration, operator } = told;
  if (form === 'lost') return <LostPasskey operator={operator} onBack={toSignIn} />;
  const mayCreate = invitation !== null || registration === 'open';
  if (form === 'create' && mayCreate) return <CreateForm invitation={invitation} onSwitch={toSignIn} />;
  if (form === 'create' && registration === 'invite') return <InvitationOnly onSwitch={toSignIn} />;
  const toCreate = registration === 'closed' ? null : () => show('create');
  return <SignInForm onSwitch={toCreate} onLost={() => show('lost')} />;
}

function InvitationOnly({ onSwitch }: { readonly onSwitch: () => void }) {
  return (
    <>
      <h2>Invitation only</h2>
      <p class="quiet-text">
        To create an account here you need an invitation. Ask the operator of this platform for a link, and open it in
        this browser.
      </p>
      <Button kind="primary" icon="key" onClick={onSwitch}>
        Sign in instead
      </Button>
    </>
  );
}

/** The state of one ceremony: under way, or what went wrong. */
function useCeremony() {
  const busy = useSignal(false);
  const failure = useSignal<Failure | null>(null);
  async function run(ceremony: () => Promise<void>): Promise<unknown> {
    if (busy.value) return null;
    busy.value = true;
    failure.value = null;
    try {
      await ceremony();
      return null;
    } catch (error) {
      failure.value = failureOf(error);
      return error;
    } finally {
      busy.value = false;
    }
  }
  return { busy, failure, run };
}

function Outcome({ failure }: { readonly failure: Failure | null }) {
  return failure === null ? null : <Note tone={failure.tone}>{failure.text}</Note>;
}

interface SignInProps {
  /** To registering; `null` where nobody can. */
  readonly onSwitch: (() => void) | null;
  readonly onLost: () => void;
}

function SignInForm({ onSwitch, onLost }: SignInProps) {
  const { busy, failure, run } = useCeremony();
  return (
    <>
      <h2>{onSwitch === null ? 'Sign in' : 'Welcome back'}</h2>
      <p class="quiet-text">Your passkey identifies your account.</p>
      <Outcome failure={failure.value} />
      <Button kind="primary" icon="key" busy={busy.value} onClick={() => void run(signIn)}>
        {busy.value ? 'Waiting for your passkey' : 'Sign in with a passkey'}
      </Button>
      <p class="other-way">
        <button type="button" class="link" onClick={onLost}>
          Lost your passkey?
        </button>
      </p>
      {onSwitch === null ? (
        <p class="other-way">This platform takes no new accounts.</p>
      ) : (
        <p class="other-way">
          New here?{' '}
          <button type="button" class="link" onClick={onSwitch}>
            Create an account
          </button>
        </p>
      )}
    </>
  );
}

/** What core has against the name itself, as opposed to everything else that can fail. */
function nameRefusal(error: unknown, name: string): string | null {
  if (!(error instanceof ApiError)) return null;
  if (error.code === 'account_name_taken') return `“${name}” is taken. Choose another name.`;
  const wrong = error.fields.find(({ path }) => path === 'name');
  return wrong === undefined ? null : `“${name}” ${wrong.message}. Choose another name.`;
}

/** Names have small letters and no blanks; the form says what becomes of others before it is sent. */
function nameOf(typed: string): string {
  return typed.trim().toLowerCase().replaceAll(/\s+/g, '-');
}

interface CreateProps {
  readonly invitation: string | null;
  readonly onSwitch: () => void;
}

function CreateForm({ invitation, onSwitch }: CreateProps) {
  const { busy, failure, run } = useCeremony();
  const problem = useSignal<string | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const typed = useDraft('account-name', '');
  const name = nameOf(typed.value);

  async function submit(): Promise<void> {
    problem.value = accountNameProblem(name);
    if (problem.value === null) {
      const failed = await run(async () => {
        await register(name, invitation);
        typed.drop();
        invitationToken.value = null;
      });
      problem.value = nameRefusal(failed, name);
      if (problem.value !== null) failure.value = null;
    }
    if (problem.value !== null) field.current?.focus();
  }

  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <h2>Create your account</h2>
      <p class="quiet-text">
        {invitation === null ? '' : 'You are invited. '}Choose a name. Your device then creates a passkey for it.
      </p>
      <label for="account-name">Account name</label>
      <input
        id="account-name"
        ref={field}
        type="text"
        autocomplete="username"
        autocapitalize="none"
        spellcheck={false}
        maxLength={64}
        aria-describedby="account-name-help"
        aria-invalid={problem.value !== null}
        value={typed.value}
        onInput={(event) => {
          problem.value = null;
          typed.put(event.currentTarget.value);
        }}
      />
      <p id="account-name-help" class={problem.value === null ? 'field-help' : 'field-help wrong'} aria-live="polite">
        {problem.value ??
          (name === typed.value.trim() || accountNameProblem(name) !== null
            ? '3 to 32 letters, digits and single hyphens. You can’t change it later.'
            : `Your name will be “${name}”. You can’t change it later.`)}
      </p>
      <Outcome failure={failure.value} />
      <button type="submit" class="button primary" aria-disabled={busy.value} aria-busy={busy.value}>
        {busy.value ? <span class="spinner" aria-hidden="true" /> : <Icon name="key" size={18} />}
        <span>{busy.value ? 'Waiting for your device' : 'Create account'}</span>
      </button>
      <p class="other-way">
        Already have an account?{' '}
        <button type="button" class="link" onClick={onSwitch}>
          Sign in
        </button>
      </p>
    </form>
  );
}

function EnrolForm({ token }: { readonly token: string }) {
  const { busy, failure, run } = useCeremony();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <>
      <h2 ref={heading} tabIndex={-1}>
        Add a passkey
      </h2>
      <p class="quiet-text">
        You opened a one-time link from the operator. It adds a passkey on this device to your account and signs you in.
        It works once and expires after a few minutes.
      </p>
      <Outcome failure={failure.value} />
      <Button
        kind="primary"
        icon="key"
        busy={busy.value}
        onClick={() =>
          void run(async () => {
            await enrol(token);
            enrolmentToken.value = null;
            go(settingsAt('recovered'));
          })
        }
      >
        {busy.value ? 'Waiting for your device' : 'Create the passkey'}
      </Button>
      <p class="other-way">
        Not what you wanted?{' '}
        <button type="button" class="link" onClick={() => (enrolmentToken.value = null)}>
          Go to sign in
        </button>
      </p>
    </>
  );
}
