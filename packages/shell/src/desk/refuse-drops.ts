// What is dropped on the page of the shell: browsers open files and links that nobody takes, past the question that the shell
// asks for links, and some of them in the place of the shell.

const FIELD = 'input, textarea, [contenteditable]';

/** The shell takes no files, and text in its fields only. */
export function refuseDrops(): void {
  for (const type of ['dragenter', 'dragover', 'drop'] as const) window.addEventListener(type, refuse);
}

function refuse(event: DragEvent): void {
  const { target, dataTransfer } = event;
  const isText = dataTransfer?.types.includes('Files') === false;
  if (isText && target instanceof Element && target.matches(FIELD)) return;
  event.preventDefault();
  if (dataTransfer !== null) dataTransfer.dropEffect = 'none';
}
