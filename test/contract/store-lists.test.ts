// Lists and search on both engines: pages are whole while others write, and the same text finds the same sessions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Session } from '@tenon/protocol';
import type { SessionFields } from '../../packages/gateway/src/store/session-row.ts';
import type { ListSessions } from '../../packages/gateway/src/store/sessions.ts';
import type { Store } from '../../packages/gateway/src/store/store.ts';
import { createRandom } from '../support/random.ts';
import { engines, onBothEngines, openWorld } from '../support/stores.ts';
import { verifies } from '../support/verifies.ts';

onBothEngines('pages have every session once, also where many changed in the same millisecond', async ({ store }) => {
  verifies('foundation:sessions');
  const keys = await createSessions(store, 137, (n) => ({ at: 1_000 + Math.floor(n / 40) }));
  const listed = await pages(store, { limit: 10 });
  assert.deepEqual(listed.map(({ key }) => key).toSorted(), keys.toSorted());
  const sorted = listed.toSorted((a, b) => b.updatedAt - a.updatedAt);
  assert.deepEqual(listed, sorted, 'latest change first');
  assert.deepEqual((await pages(store, { limit: 137 })).length, 137);
  assert.deepEqual(await pages(store, { limit: 1 }), listed);
});

onBothEngines('pages have every untouched session once and none twice while others create, change, reset and delete', async ({ store }) => {
  const random = createRandom(4711);
  const keys = await createSessions(store, 240, (n) => ({ at: 1_000 + n }));
  const quiet = new Set(keys.filter((_, n) => n % 3 === 0));
  const busy = keys.filter((key) => !quiet.has(key));
  let listing = true;
  async function disturb(): Promise<void> {
    for (let n = 0; listing; n++) {
      const key = random.pick(busy);
      // Also with a clock that went back: a session must never slide towards the pages that are still to come.
      const at = random.pick([10, 1_100, 9_999]);
      const refusedToo = [
        () => store.write('sessions.patch', { key, fields: { title: `t${n}` }, at }),
        () => store.write('sessions.reset', { key, at }),
        () => store.write('sessions.delete', { key, at }),
        () => store.write('sessions.create', { key: `agent:main:new${n}`, fields: {}, at: 20_000 }),
      ];
      await random
        .pick(refusedToo)()
        .catch(() => {});
    }
  }
  const disturbers = [disturb(), disturb(), disturb(), disturb()];
  try {
    for (let round = 0; round < 5; round++) {
      const seen = (await pages(store, { limit: 7 })).map(({ key }) => key);
      assert.equal(new Set(seen).size, seen.length, 'a session came twice');
      assert.deepEqual(
        [...quiet].filter((key) => !seen.includes(key)),
        [],
        'a session that nobody touched is missing',
      );
    }
  } finally {
    listing = false;
    await Promise.all(disturbers);
  }
});

onBothEngines('filters combine, and a bound caller sees its own session only', async ({ store }) => {
  await createSessions(store, 60, (n) => ({
    agentId: n % 2 ? 'odd' : 'even',
    fields: { title: `number ${n}`, label: n % 3 ? null : 'third', archived: n % 5 === 0 },
  }));
  const numbers = async (filter: Omit<ListSessions, 'limit'>) =>
    (await pages(store, { limit: 4, ...filter })).map(({ title }) => Number(title.slice(7))).toSorted((a, b) => a - b);
  const expected = (fits: (n: number) => boolean) => Array.from({ length: 60 }, (_, n) => n).filter(fits);
  assert.deepEqual(
    await numbers({}),
    expected((n) => n % 5 !== 0),
  );
  assert.deepEqual(
    await numbers({ archived: true }),
    expected((n) => n % 5 === 0),
  );
  assert.deepEqual(
    await numbers({ agentId: 'odd', label: 'third' }),
    expected((n) => n % 2 === 1 && n % 3 === 0 && n % 5 !== 0),
  );
  assert.deepEqual(
    await numbers({ search: 'number', archived: true, agentId: 'even' }),
    expected((n) => n % 10 === 0),
  );
  assert.deepEqual(
    await numbers({ search: 'number' }),
    expected(() => true),
    'search looks into the archive too',
  );
  assert.deepEqual(await numbers({ boundTo: 'agent:odd:s7' }), [7]);
  assert.deepEqual(await numbers({ boundTo: 'agent:odd:s7', search: 'number' }), [7]);
  assert.deepEqual(await numbers({ agentId: 'nobody' }), []);
});

const titles = [
  'Plain words here',
  'plain WORDS elsewhere',
  'O\'Brien\'s "quoted" (text) & more | less ! not:* <-> near',
  'Größe MASS Straße ẞ ß ſ',
  'Ünïcödé ünïcödé',
  'ΣΊΣΥΦΟΣ Σίσυφος',
  'İstanbul ısı I i',
  'Привет, мир',
  '日本語のタイトル 東京',
  'שלום עולם',
  'हिन्दी पाठ',
  'emoji 😀 only 👩‍👩‍👧 here',
  'math 𝒜𝓑𝓒 ﬁne ﷺ ㍿ ½ x² Ⅷ',
  'young letters: Ა ꭰ 𞤀𞤣𞤤𞤢𞤥 𐓸 Ꞽ',
  'C++ C# F# .NET a.b_c-d/e',
  '100% 50,000 3.14 1e9 007',
  "'; drop table sessions; --",
  '\\ backslash \\\\ and \ttab\nnewline',
  'a'.repeat(512),
  '𠀀'.repeat(512),
  '㍿'.repeat(512),
  `${'many '.repeat(30)}words`,
  '',
  '!!! ??? ***',
  'null NULL undefined',
  'ñ n\u0303 é e\u0301',
];

const questions = [
  ...titles.filter((title) => title !== ''),
  ...titles.flatMap((title) => title.split(/\s+/)).filter((word) => word !== ''),
  ...titles.flatMap((title) => title.split(/\s+/).map((word) => [...word].slice(0, 2).join(''))).filter((prefix) => prefix !== ''),
  'plain wor',
  'wor plain',
  'words plain nothing',
  'agent main',
  's1',
  'a'.repeat(63),
  'a'.repeat(65),
  '"*',
  "'",
  '*',
  ' ',
  ':* & | !',
  'σ',
  'ς',
];

test('a search finds the same sessions in the same order on both engines: those with every word as a beginning', async () => {
  const found: Map<string, string[]>[] = [];
  for (const engine of engines) {
    await using world = await openWorld(engine);
    await createSessions(world.store, titles.length, (n) => ({ fields: { title: titles[n] as string } }));
    // A title that was changed is found by its new words only.
    await world.store.write('sessions.patch', { key: 'agent:main:s0', fields: { title: 'Fresh words here' }, at: 5_000 });
    await world.store.write('sessions.delete', { key: 'agent:main:s4', at: 5_000 });
    const answers = new Map<string, string[]>();
    for (const search of questions)
      answers.set(
        search,
        (await pages(world.store, { limit: 5, search })).map(({ key }) => key),
      );
    found.push(answers);
  }
  const present = titles.map((title, n) => ({ key: `agent:main:s${n}`, title: n === 0 ? 'Fresh words here' : title })).toReversed();
  for (const search of questions) {
    const expected = present.filter(({ key }) => key !== 'agent:main:s4').filter(({ key, title }) => isFound(search, `${title} ${key}`));
    const keys = expected.map(({ key }) => key);
    for (const [index, engine] of engines.entries())
      assert.deepEqual(found[index]?.get(search), keys, `${engine}: ${JSON.stringify(search)}`);
  }
});

/** What a search means, said once more and without an engine. */
function isFound(search: string, text: string): boolean {
  const words = (of: string) =>
    (
      of
        .normalize('NFKC')
        .toLowerCase()
        .match(/[\p{L}\p{N}]+/gu) ?? []
    ).map((word) => [...word].slice(0, 64).join(''));
  const wanted = words(search);
  return wanted.length > 0 && wanted.every((beginning) => words(text).some((word) => word.startsWith(beginning)));
}

async function createSessions(
  store: Store,
  count: number,
  make: (n: number) => { at?: number; agentId?: string; fields?: SessionFields },
): Promise<string[]> {
  const keys: string[] = [];
  for (let n = 0; n < count; n++) {
    const { at = 1_000 + n, agentId = 'main', fields = {} } = make(n);
    const { session } = await store.write('sessions.create', { key: `agent:${agentId}:s${n}`, fields, at });
    keys.push(session.key);
  }
  return keys;
}

async function pages(store: Store, filter: ListSessions): Promise<Session[]> {
  const listed: Session[] = [];
  for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
    const page = await store.read('sessions.list', { ...filter, ...(cursor === undefined ? {} : { cursor }) });
    assert.ok(page.sessions.length <= filter.limit);
    listed.push(...page.sessions);
    cursor = page.nextCursor;
  }
  return listed;
}
