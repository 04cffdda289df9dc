// What holds for collections and files of a backend, beside an account that can be invited.
import { equal, fails } from './checks.ts';
import { FRIEND } from './messaging-cases.ts';
import type { Cases } from './tools.ts';

const textOf = ({ bytes }: { readonly bytes: Uint8Array }): string => new TextDecoder().decode(bytes);

export const contentCases: Cases = {
  async 'a collection is made, changed, listed, moved and deleted'({ client }) {
    const { content } = client;
    const outer = await content.create({ kind: 'folder', name: 'Home' });
    const inner = await content.create({ kind: 'list', name: 'Groceries', parentId: outer.id });
    equal(await content.read(inner.id), inner);
    equal((await content.change(inner.id, { name: 'Food', parentId: null })).name, 'Food');
    equal((await content.list({ limit: 200 })).items.map(({ id }) => id).includes(inner.id), true);
    await fails(content.change(outer.id, { parentId: outer.id }), { code: 'content_conflict', status: 409 });
    await content.delete(outer.id);
    await fails(content.read(outer.id), { code: 'not_found' });
  },

  async 'an item is written on condition, and its changes are read on'({ client }) {
    const { content } = client;
    const { id } = await content.create({ kind: 'list', name: 'Items' });
    const first = await content.put(id, 'milk', '2 litres', { ifNoneMatch: '*' });
    await fails(content.put(id, 'milk', 'x', { ifNoneMatch: '*' }), { code: 'precondition_failed', status: 412 });
    equal(textOf(await content.get(id, 'milk')), '2 litres');
    equal((await content.get(id, 'milk')).etag, first.etag);
    const next = await content.put(id, 'milk', new Uint8Array([1, 2]), { ifMatch: first.etag });
    await fails(content.remove(id, 'milk', { ifMatch: first.etag }), { code: 'precondition_failed' });
    equal((await content.items(id)).items, [next]);
    const { items, nextCursor } = await content.changes(id);
    equal(
      items.map(({ key, etag }) => [key, etag]),
      [['milk', next.etag]],
    );
    await content.remove(id, 'milk', { ifMatch: next.etag });
    const later = await content.changes(id, { cursor: String(nextCursor) });
    equal(
      later.items.map(({ key, etag }) => [key, etag]),
      [['milk', null]],
    );
  },

  async 'somebody is invited, and who has access is listed'({ client }) {
    const { content } = client;
    const { id } = await content.create({ kind: 'list', name: 'For two' });
    const { role, collection } = await content.invite(id, { to: FRIEND, role: 'editor' });
    equal([role, collection.id], ['editor', id]);
    const { items } = await content.members(id);
    equal(
      items.map((member) => member.role),
      ['owner'],
    );
    await fails(content.removeMember(id, String(items[0]?.id)), { code: 'content_conflict' });
    await fails(content.invite(id, { to: 'nobody-at-all', role: 'viewer' }), { code: 'not_found' });
  },

  async 'files of the app are written, opened to others and deleted'({ client }) {
    const { files } = client;
    const written = await files.put('plan & more.txt', 'one', { type: 'text/plain' });
    equal([written.name, written.type, written.size], ['plan & more.txt', 'text/plain', 3]);
    equal(textOf(await files.get('plan & more.txt')), 'one');
    const entries = [{ principal: { app: 'some-other-app' }, access: 'read' as const }];
    equal(await files.open('plan & more.txt', entries), entries);
    equal(await files.access('plan & more.txt'), entries);
    equal((await files.list()).items, [written]);
    equal((await files.shared()).items, []);
    await fails(files.getShared('fil-01890000-0000-7000-8000-000000000000'), { code: 'not_found' });
    await fails(files.putShared('fil-01890000-0000-7000-8000-000000000000', 'x'), { code: 'not_found' });
    await files.remove('plan & more.txt', { ifMatch: written.etag });
    await fails(files.get('plan & more.txt'), { code: 'not_found' });
    await fails(files.get('..'), { code: 'invalid_request' });
  },
};
