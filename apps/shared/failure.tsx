// One line about something that went wrong, announced to screen readers.

export function Failure({ text }: { readonly text: string | undefined }) {
  return (
    <p role="alert" class="danger-text">
      {text ?? ''}
    </p>
  );
}
