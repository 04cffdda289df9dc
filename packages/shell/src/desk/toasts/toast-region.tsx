// Where short messages appear. The region exists from the start, so that screen readers announce what is put into it.
import { IconButton } from '../../design/controls.tsx';
import { Icon } from '../../design/icons.tsx';
import { dismissToast, type Toast, toasts, toastsHeld } from './toasts.ts';

function ToastCard({ toast }: { readonly toast: Toast }) {
  const { action } = toast;
  return (
    <div class={`toast ${toast.tone}`}>
      <Icon name={toast.tone === 'danger' ? 'warning' : toast.tone === 'success' ? 'check' : 'bell'} />
      <div class="toast-text">
        <p class="toast-title">{toast.title}</p>
        {toast.body !== '' && <p class="toast-body">{toast.body}</p>}
        {action !== null && (
          <button
            type="button"
            class="link"
            onClick={() => {
              dismissToast(toast.id);
              action.run();
            }}
          >
            {action.label}
          </button>
        )}
      </div>
      <IconButton icon="close" label="Dismiss" onClick={() => dismissToast(toast.id)} />
    </div>
  );
}

export function ToastRegion() {
  const hold = () => {
    toastsHeld.value = true;
  };
  const release = () => {
    toastsHeld.value = false;
  };
  return (
    <section
      class="toasts"
      aria-label="Messages"
      onPointerEnter={hold}
      onPointerLeave={release}
      onFocusIn={hold}
      onFocusOut={release}
    >
      <div aria-live="assertive">
        {toasts.value
          .filter(({ urgent }) => urgent)
          .map((toast) => (
            <ToastCard key={toast.id} toast={toast} />
          ))}
      </div>
      <div aria-live="polite">
        {toasts.value
          .filter(({ urgent }) => !urgent)
          .map((toast) => (
            <ToastCard key={toast.id} toast={toast} />
          ))}
      </div>
    </section>
  );
}
