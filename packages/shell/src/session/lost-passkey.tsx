// What a person without their passkey can do, and what nobody can.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon, type IconName } from '../design/icons.tsx';

function Way({ icon, title, children }: { icon: IconName; title: string; children: ComponentChildren }) {
  return (
    <li>
      <Icon name={icon} />
      <div>
        <strong>{title}</strong>
        <p>{children}</p>
      </div>
    </li>
  );
}

interface LostPasskeyProps {
  /** Who runs the platform and how to reach them, as they wrote it. */
  readonly operator: string | null;
  readonly onBack: () => void;
}

export function LostPasskey({ operator, onBack }: LostPasskeyProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <>
      <h2 ref={heading} tabIndex={-1}>
        Lost your passkey?
      </h2>
      <p class="quiet-text">Try these in order. Any passkey of your account opens it.</p>
      <ul class="ways">
        <Way icon="devices" title="Use another device">
          Sign in where you have used this account before. Or press “Sign in with a passkey” here, choose a phone or
          tablet, and scan the code with it.
        </Way>
        <Way icon="refresh" title="Get a synced passkey back">
          A passkey in iCloud Keychain, Google Password Manager or another password manager is on every device that is
          signed in to it.
        </Way>
        <Way icon="key" title="Use another passkey of the account">
          If you added a second passkey or a security key, sign in with that one.
        </Way>
        <Way icon="person" title="Ask the operator of this platform">
          {operator !== null && <span class="operator">{operator}</span>}
          They can make a one-time link with <code>./platform recover &lt;account name&gt;</code>. It works for 15
          minutes and adds a new passkey to your account.
        </Way>
      </ul>
      <p class="quiet-text">
        There is no password, e-mail or recovery code, and the platform has no copy of your passkey. Without any of
        these ways nobody can open the account; its data stays.
      </p>
      <p class="other-way">
        <button type="button" class="link" onClick={onBack}>
          Back to sign in
        </button>
      </p>
    </>
  );
}
