// The files of attachments in a backup, from either engine to either: whole with their digests, named when they are missing,
// refused when somebody changed them; and what a store that is replaced needs stays with it.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { loadConfig } from '../../packages/gateway/src/config.ts';
import { createBackup, restoreBackup, runOfflineDoctor } from '../../packages/gateway/src/maintenance.ts';
import { placeOf } from '../../packages/gateway/src/store/attachment-files.ts';
import type { Store } from '../../packages/gateway/src/store/store.ts';
import { openBackup } from '../../packages/gateway/src/store/backup.ts';
import { editBackup, flipBackupBytes, flipByte, unsealBackup } from '../support/backups.ts';
import { createRandom } from '../support/random.ts';
import { engines, openWorld } from '../support/stores.ts';
import { verifies } from '../support/verifies.ts';

const at = 1_700_000_000_000;
const key = 'agent:main:files';
const quotas = { sessionBytes: 1e9, totalBytes: 1e9 };
const digestOf = (content: Buffer) => createHash('sha256').update(content).digest('hex');
/** More than two pieces, one that is empty but for a letter, and one that is a piece to the byte. */
const contents = [Buffer.alloc(2_500_000, 'tenon '), Buffer.from('x'), Buffer.alloc(1_048_576, 1)];

type World = Awaited<ReturnType<typeof openWorld>>;

const configOf = ({ home, url, engine }: World) => loadConfig({ home, env: {}, flags: { 'store.engine': engine, 'store.url': url } });

function put(home: string, content: Buffer): void {
  const place = placeOf(home, digestOf(content));
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(place, content, { mode: 0o600 });
}

async function keep(store: Store, home: string, all = contents): Promise<void> {
  await store.write('sessions.create', { key, fields: {}, at }).catch(() => undefined);
  for (const [index, content] of all.entries()) {
    put(home, content);
    const uploadId = `upload-${index}-${content.length}`.padEnd(22, '_');
    const upload = { uploadId, name: `file-${index}.bin`, bytes: content.length, sessionKey: key, owner: 'token:a', expiresAt: at + 1e6 };
    await store.write('attachments.begin', { ...upload, bounds: { open: 50, openPerOwner: 50 }, quotas, at });
    const made = { handle: uploadId, sha256: digestOf(content), bytes: content.length, mime: 'application/octet-stream' };
    await store.write('attachments.commit', { ...made, name: `file-${index}.bin`, owner: 'token:a', uploadId, quotas, at });
  }
}

const wholeIn = (home: string) =>
  contents.map((content) => {
    const place = placeOf(home, digestOf(content));
    return existsSync(place) && readFileSync(place).equals(content) && (statSync(place).mode & 0o777) === 0o600;
  });

for (const from of engines) {
  for (const to of engines.filter((engine) => engine !== from)) {
    test(`a backup of ${from} has the files too, and ${to} has them after the restore`, async () => {
      verifies('foundation:backup');
      await using source = await openWorld(from);
      await keep(source.store, source.home);
      const file = join(source.home, 'backup');
      const seen: number[] = [];
      const { files } = await createBackup({
        config: configOf(source),
        file,
        onProgress: ({ table, rows }) => void (table === 'files' && seen.push(rows)),
      });
      const bytes = contents.reduce((sum, { length }) => sum + length, 0);
      assert.deepEqual(files, { inBackup: true, count: 3, bytes, missingCount: 0, missing: [] });
      assert.deepEqual(seen, [1, 2, 3], 'it says how far it is');
      assert.equal(statSync(file).mode & 0o777, 0o600);
      assert.ok(statSync(file).size < bytes * 1.2, 'each file is in it once');

      await using target = await openWorld(to);
      const other = Buffer.from('of the store that is replaced');
      await keep(target.store, target.home, [other]);
      // One that is there already and is not whole is replaced; a link is not followed.
      put(target.home, contents[0]!);
      writeFileSync(placeOf(target.home, digestOf(contents[0]!)), 'cut off');
      mkdirSync(dirname(placeOf(target.home, digestOf(contents[1]!))), { recursive: true });
      symlinkSync('/etc/hostname', placeOf(target.home, digestOf(contents[1]!)));
      await target.store.close();
      assert.deepEqual(await restoreBackup({ config: configOf(target), file, dryRun: true }), { sealed: true });
      const restored = await restoreBackup({ config: configOf(target), file });
      assert.deepEqual([restored.files?.count, restored.files?.missingCount], [3, 0]);
      assert.deepEqual(wholeIn(target.home), [true, true, true]);
      await target.reopen();
      assert.equal((await target.store.read('attachments.list', { limit: 5 })).attachments.length, 3);
      const [record] = await target.store.read('audit.list', { limit: 1 });
      assert.deepEqual(record?.details, { filesInBackup: true, files: 3, filesMissing: 0 });
      // The store that was replaced has its files still: beside it, or in the backup that was made of it.
      await target.store.close();
      if (to === 'sqlite')
        assert.ok(existsSync(placeOf(target.home, digestOf(other)).replace('/attachments/', `/${restored.keptFiles?.split('/').at(-1)}/`)));
      else {
        rmSync(placeOf(target.home, digestOf(other)));
        const back = await restoreBackup({ config: configOf(target), file: restored.kept! });
        assert.equal(back.files?.count, 1);
        assert.deepEqual(readFileSync(placeOf(target.home, digestOf(other))), other);
      }
      await target.reopen();
    });
  }
}

test('a file that is missing, cut or a link is named in the backup, in the restore, and by doctor', async () => {
  verifies('foundation:backup');
  await using world = await openWorld('sqlite');
  await keep(world.store, world.home);
  const [long, tiny, even] = contents.map((content) => placeOf(world.home, digestOf(content))) as [string, string, string];
  rmSync(tiny);
  symlinkSync(long, tiny);
  writeFileSync(even, Buffer.alloc(1_048_576, 2));
  const stray = placeOf(world.home, 'ab'.repeat(32));
  mkdirSync(dirname(stray), { recursive: true });
  writeFileSync(stray, 'nobody needs it');
  utimesSync(stray, 1, 1);
  const file = join(world.home, 'backup');
  const { files } = await createBackup({ config: configOf(world), file });
  assert.deepEqual([files?.count, files?.missingCount], [1, 2]);
  assert.deepEqual(
    files?.missing.toSorted((a, b) => a.name.localeCompare(b.name)),
    [
      { name: 'file-1.bin', sessionKey: key, reason: 'missing' },
      { name: 'file-2.bin', sessionKey: key, reason: 'damaged' },
    ],
  );
  await world.store.close();
  rmSync(even);
  const { findings } = await runOfflineDoctor({ config: configOf(world), fix: false });
  const [missing, strays] = findings.filter(({ check }) => check === 'attachments');
  assert.match(missing?.message ?? '', /^2 of 3 files .*"file-1\.bin" of agent:main:files/);
  assert.match(strays?.message ?? '', /^1 files .*ab\/abab/);
  const restored = await restoreBackup({ config: configOf(world), file });
  assert.deepEqual([restored.files?.count, restored.files?.missingCount], [1, 2]);
  await world.reopen();
});

test('a backup whose files were changed is refused whole, whatever was changed', async () => {
  verifies('foundation:backup');
  await using world = await openWorld('sqlite');
  await keep(world.store, world.home);
  const file = join(world.home, 'backup');
  await createBackup({ config: configOf(world), file });
  await world.store.close();
  const untouched = readFileSync(file);
  const store = readFileSync(join(world.home, 'tenon.db'));
  const digest = digestOf(contents[1]!);
  const changes: [string, string, RegExp][] = [
    ['another byte', `update backup_pieces set content = x'00' where sha256 = '${digest}'`, /"file-1\.bin" does not have its digest/],
    ['a piece less', `delete from backup_pieces where part = 2`, /"file-0\.bin" does not have its digest/],
    [
      'one more',
      `insert into backup_pieces select sha256, 3, content from backup_pieces where part = 0 and sha256 <> '${digest}'`,
      /not as long/,
    ],
    ['no record', `delete from backup_attachments where sha256 = '${digest}'`, /has no file for the attachment "file-1\.bin"/],
    ['a stranger', `insert into backup_attachments values ('${'00'.repeat(32)}', 1, 'kept')`, /none of its rows names/],
    ['a loose piece', `insert into backup_pieces values ('../../token', 0, x'00')`, /none of its rows names/],
    ['a huge piece', `update backup_pieces set content = zeroblob(4000000) where part = 1`, /not as long/],
    ['a path', `update attachments set sha256 = '../../token' where name = 'file-1.bin'`, /has no file for the attachment/],
  ];
  for (const [name, change, why] of changes) {
    writeFileSync(file, untouched);
    editBackup(file, change);
    await assert.rejects(restoreBackup({ config: configOf(world), file }), why, name);
    assert.ok(readFileSync(join(world.home, 'tenon.db')).equals(store), `${name}: the store is as it was`);
  }
  assert.deepEqual(
    readdirSync(world.home).filter((name) => /restore/.test(name)),
    [],
  );
  await world.reopen();
});

test('a backup from before files were in backups is restored, with a record of what is not there', async () => {
  verifies('foundation:backup');
  await using world = await openWorld('sqlite');
  await keep(world.store, world.home);
  const file = join(world.home, 'backup');
  await createBackup({ config: configOf(world), file });
  // Whatever else somebody put into it stays behind: only rows come out of a backup.
  editBackup(
    file,
    `drop table backup_attachments; drop table backup_pieces; create table other (a);
    create trigger evil after insert on sessions begin delete from tokens; end`,
  );
  await world.store.close();
  rmSync(placeOf(world.home, digestOf(contents[1]!)));
  const { files } = await restoreBackup({ config: configOf(world), file });
  assert.deepEqual([files?.inBackup, files?.count, files?.missing.map(({ name }) => name)], [false, 2, ['file-1.bin']]);
  await world.reopen();
  const [record] = await world.store.read('audit.list', { limit: 1 });
  assert.deepEqual(record?.details, { filesInBackup: false, files: 2, filesMissing: 1 });
  const restored = new DatabaseSync(join(world.home, 'tenon.db'), { readOnly: true });
  assert.deepEqual(restored.prepare(`select name from sqlite_schema where name in ('other', 'evil')`).all(), []);
  restored.close();
});

for (const engine of engines) {
  test(`${engine}: a byte of a backup that was flipped anywhere is found before anything is replaced`, async () => {
    verifies('R13:backup');
    await using world = await openWorld(engine);
    await keep(world.store, world.home);
    const file = join(world.home, 'backup');
    await createBackup({ config: configOf(world), file });
    await world.store.close();
    const config = configOf(world);
    assert.deepEqual(await restoreBackup({ config, file, dryRun: true }), { sealed: true });
    flipBackupBytes(file, { flips: 24, random: createRandom(20_260_602) });

    const before = readdirSync(world.home).sort();
    const whole = readFileSync(file);
    flipByte(file, 3_000_000, 1);
    for (const dryRun of [true, false])
      await assert.rejects(restoreBackup({ config, file, dryRun }), {
        message: `${file} is damaged: something between byte 2097152 and byte 3145728 was changed; nothing was restored`,
      });
    assert.deepEqual(readdirSync(world.home).sort(), before);
    writeFileSync(file, whole.subarray(0, -1));
    assert.throws(() => openBackup(file, ['tenon.toml', 'token', 'home.key', 'audit-head.json']), /its digests are gone/);
    await world.reopen();
    assert.equal((await world.store.read('sessions.get', { key })).session.key, key);
  });
}

test('a backup from before backups were sealed is restored, and that it has no digests is said', async () => {
  verifies('R13:backup');
  await using world = await openWorld('sqlite');
  const file = join(world.home, 'backup');
  await createBackup({ config: configOf(world), file });
  await world.store.close();
  unsealBackup(file);
  assert.deepEqual(await restoreBackup({ config: configOf(world), file, dryRun: true }), { sealed: false });
  assert.equal((await restoreBackup({ config: configOf(world), file })).sealed, false);
  await world.reopen();
});
