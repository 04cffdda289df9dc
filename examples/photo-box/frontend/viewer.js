// The large view: one photo at a time, with the keyboard too.
const one = (id) => document.querySelector(`#${id}`);
const dialog = one('viewer');
const large = one('large');
const trouble = one('trouble');
const save = one('save');
const remove = one('remove');

const SIZES = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const TIMES = new Intl.DateTimeFormat(undefined, { dateStyle: 'long', timeStyle: 'short' });

function sizeOf({ size }) {
  const kibibytes = size / 1024;
  return kibibytes < 1024 ? `${SIZES.format(Math.ceil(kibibytes))} KiB` : `${SIZES.format(kibibytes / 1024)} MiB`;
}

/** A disabled button keeps no focus. */
function disable(button, isDisabled) {
  if (isDisabled && document.activeElement === button) one('close').focus();
  button.disabled = isDisabled;
}

/**
 * @param read gets the bytes of a photo
 * @param keep saves a file on the person's device
 * @param remove deletes a photo
 * @param removed called after it was deleted
 */
export function openViewer({ read, keep, remove: erase, removed }) {
  let photos = [];
  let shown = null;
  /** Of what is shown, and where the page has them. */
  let bytes = null;
  let address = null;

  one('previous').addEventListener('click', () => step(-1));
  one('next').addEventListener('click', () => step(1));
  one('close').addEventListener('click', () => dialog.close());
  save.addEventListener('click', () => keep(bytes, shown.name));
  remove.addEventListener('click', () => (remove.dataset.sure ? removeShown() : askToRemove()));
  remove.addEventListener('blur', forget);
  large.addEventListener('error', () => {
    if (large.hasAttribute('src')) trouble.textContent = 'This browser can’t show this format. Save it instead.';
  });
  dialog.addEventListener('close', clear);
  addEventListener('keydown', ({ key }) => {
    if (!dialog.open) return;
    if (key === 'ArrowLeft') step(-1);
    if (key === 'ArrowRight') step(1);
  });

  function step(by) {
    const photo = photos[photos.indexOf(shown) + by];
    if (photo !== undefined) show(photo);
  }

  function show(photo) {
    clear();
    shown = photo;
    const at = photos.indexOf(photo);
    disable(one('previous'), at === 0);
    disable(one('next'), at === photos.length - 1);
    one('name').textContent = photo.name;
    one('facts').textContent = `${TIMES.format(new Date(photo.addedAt))}, ${sizeOf(photo)}`;
    large.alt = photo.name;
    trouble.textContent = 'Loading …';
    read(photo).then(
      (blob) => {
        // Another photo may be shown by now.
        if (shown !== photo) return;
        trouble.textContent = '';
        bytes = blob;
        address = URL.createObjectURL(blob);
        large.src = address;
        save.disabled = false;
      },
      (error) => {
        if (shown === photo) trouble.textContent = error.message;
      },
    );
  }

  function clear() {
    if (address !== null) URL.revokeObjectURL(address);
    address = null;
    large.removeAttribute('src');
    save.disabled = true;
    shown = null;
    forget();
  }

  function askToRemove() {
    remove.dataset.sure = 'yes';
    remove.textContent = 'Delete for good';
    trouble.textContent = 'You can’t undo this. Press again to delete the photo.';
  }

  function forget() {
    if (!remove.dataset.sure) return;
    delete remove.dataset.sure;
    remove.textContent = 'Delete';
    trouble.textContent = '';
  }

  async function removeShown() {
    const photo = shown;
    try {
      await erase(photo);
    } catch (error) {
      forget();
      trouble.textContent = error.message;
      return;
    }
    const at = photos.indexOf(photo);
    photos = photos.filter((other) => other !== photo);
    const neighbour = photos[Math.min(at, photos.length - 1)];
    if (neighbour === undefined) dialog.close();
    else show(neighbour);
    removed(photo);
  }

  return {
    /** @param among what comes before and after it */
    show(photo, among) {
      photos = among;
      show(photo);
      dialog.showModal();
    },
  };
}
