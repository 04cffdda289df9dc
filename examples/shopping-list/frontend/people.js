// Who has the list: inviting somebody, taking a role away, and deleting the list.
const one = (selector) => document.querySelector(`#people ${selector}`);
const dialog = document.querySelector('#people');
const form = one('form');
const to = one('#to');
const status = one('[role=status]');
const erase = one('#delete');

const ROLES = { owner: 'owner', manager: 'may change it and invite', editor: 'may change it', viewer: 'may read it' };

/** @param deleted called after the list was deleted */
export function openPeople({ app, content, deleted }) {
  let list = null;

  one('.close').addEventListener('click', () => dialog.close());
  one('#contacts').addEventListener('click', () =>
    trying(async () => {
      const contact = await app.pickContact();
      if (contact !== null) to.value = contact.address;
    }),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    trying(async () => {
      const name = to.value.trim();
      await content.invite(list.id, { to: name, role: 'editor' });
      status.textContent = `${name} is invited, and finds it in Settings → Sharing.`;
      to.value = '';
    });
  });
  erase.addEventListener('click', () => {
    if (erase.dataset.sure) {
      trying(async () => {
        await content.delete(list.id);
        dialog.close();
        deleted(list);
      });
      return;
    }
    erase.dataset.sure = 'yes';
    erase.textContent = 'Delete for everybody';
    status.textContent = 'You can’t undo this. Press again to delete the list.';
  });
  erase.addEventListener('blur', forget);

  function forget() {
    delete erase.dataset.sure;
    erase.textContent = 'Delete list';
  }

  async function showMembers() {
    const { items } = await content.members(list.id, { limit: 200 });
    const manages = ['owner', 'manager'].includes(list.role);
    one('#members').replaceChildren(
      ...items.map((member) => {
        const row = document.createElement('li');
        const who = document.createElement('span');
        who.textContent = `${member.address}, ${ROLES[member.role]}`;
        row.append(who);
        if (manages && member.role !== 'owner') {
          const remove = document.createElement('button');
          remove.type = 'button';
          remove.textContent = 'Remove';
          remove.ariaLabel = `Remove ${member.address}`;
          remove.addEventListener('click', () =>
            trying(async () => {
              await content.removeMember(list.id, member.id);
              await showMembers();
              one('.close').focus();
            }),
          );
          row.append(remove);
        }
        return row;
      }),
    );
  }

  async function trying(work) {
    try {
      status.textContent = '';
      await work();
    } catch (error) {
      status.textContent = error.message;
    }
  }

  return (shown) => {
    list = shown;
    const manages = ['owner', 'manager'].includes(list.role);
    one('#invite').hidden = !manages;
    one('[type=submit]').hidden = !manages;
    erase.hidden = list.role !== 'owner';
    one('#members').replaceChildren();
    dialog.showModal();
    trying(showMembers);
  };
}
