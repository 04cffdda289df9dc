// One line about something that did not work, announced to screen readers; it stays in sight in a long page.

export function Failure({ text }: { readonly text: string | undefined }) {
  return (
    <div role="alert" class="failure">
      {text !== undefined && (
        <p class="failure-line">
          <svg viewBox="0 0 24 24" width={18} height={18} aria-hidden="true">
            <path d="M12 4 21 19.5H3L12 4ZM12 10v4.5M12 17v.1" />
          </svg>
          <span>{text}</span>
        </p>
      )}
    </div>
  );
}
