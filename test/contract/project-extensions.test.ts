// Extensions of a workspace: used only where the operator has said that the workspace is trusted, before those of the home with
// the same name, and trusted there and nowhere else.
import assert from 'node:assert/strict';
import { chmodSync, cpSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type HostWorld, openHostWorld } from '../support/plugins.ts';
import { verifies } from '../support/verifies.ts';
import { toolCall, withExtensions, writeExtension } from '../support/written-extension.ts';

const BY = { by: 'test' };
const TOOLS = '[capabilities]\ntools = true';
const says = (description: string) => JSON.stringify({ tools: [{ name: 'add', description, parameters: { type: 'object' } }] });

function write(world: HostWorld, name: string, place: string | undefined, description: string): string {
  if (place !== undefined) {
    mkdirSync(place, { recursive: true, mode: 0o755 });
    chmodSync(join(place, '..'), 0o755);
  }
  const files = { 'registrations.json': says(description) };
  return writeExtension(world, name, { ...(place === undefined ? {} : { place }), fixture: 'notes.mjs', manifest: TOOLS, files });
}

const options = (world: HostWorld, ...trustedWorkspaces: string[]) => ({
  paths: [],
  extensions: { ...withExtensions.extensions, workspaces: [world.workspace, join(world.home, 'other')], trustedWorkspaces },
});

test('G27: of a workspace that is not trusted nothing is used; in one that is, its extension goes before that of the home', async () => {
  verifies('sep:G27', 'sep:discovery', 'seed3:trust');
  await using world = await openHostWorld();
  const inside = join(world.workspace, '.tenon/extensions');
  write(world, 'notes', undefined, 'Of the home.');
  const project = write(world, 'notes', inside, 'Of the workspace.');
  write(world, 'alone', inside, 'Alone.');
  // What a repository says of its own trust is nothing.
  writeFileSync(join(inside, 'trust.toml'), '[extensions.notes]\ntrusted = true\n');
  const textOf = (host: Awaited<ReturnType<HostWorld['open']>>) => host.registry.findAny('tool', 'notes__add')?.item.description;

  let host = await world.open(options(world));
  const listed = host.list().map(({ id, state, reason }) => [id, state, reason?.replace(world.home, '')]);
  const untrusted = `its workspace /workspace is not trusted; name it in the setting extensions.trustedWorkspaces, and start the gateway anew`;
  assert.deepEqual(listed, [
    ['notes', 'off', 'it is not switched on'],
    ['alone', 'rejected', untrusted],
    ['notes', 'rejected', untrusted],
  ]);
  await host.enable('notes', BY);
  assert.equal(textOf(host), 'Of the home.');
  await assert.rejects(host.enable('alone', BY), /is not trusted/);

  // Even the same files are not trusted there because they are at home.
  host = await world.open(options(world, 'workspace'));
  assert.deepEqual([host.get('notes')?.workspace, host.get('notes')?.folder], [world.workspace, project]);
  rmSync(project, { recursive: true });
  cpSync(join(world.home, 'extensions/notes'), project, { recursive: true });
  const [same] = await host.reload('notes', BY);
  assert.equal(same?.state, 'changed', 'G27');
  write(world, 'notes', inside, 'Of the workspace.');
  await host.reload(undefined, BY);
  const on = await host.enable('notes', BY);
  assert.deepEqual([on.state, textOf(host)], ['loaded', 'Of the workspace.']);
  assert.match(
    host.list().find(({ id, state }) => id === 'notes' && state === 'rejected')!.reason!,
    /the extension of the same name of the workspace .* is used in its place/,
  );
  const hello = world.logged.flatMap(({ stderr }) => (typeof stderr === 'string' && stderr.includes('initialize') ? [stderr] : [])).at(-1)!;
  assert.deepEqual(JSON.parse(hello).initialize.workspace, { root: world.workspace, trusted: true });
  assert.match(String((await host.registry.findAny('tool', 'notes__add')!.item.execute({}, toolCall())).content), /^add/);

  // Nor is that of the home trusted because the one of the workspace was.
  rmSync(project, { recursive: true });
  const [home] = await host.reload('notes', BY);
  assert.deepEqual([home?.state, home?.workspace], ['changed', undefined]);
});

test('S51: links on the way, folders of others and names that are taken are listed, and nothing of them runs', async () => {
  verifies('S51', 'S51:extensions');
  await using world = await openHostWorld();
  const inside = join(world.workspace, '.tenon/extensions');
  const canary = join(world.home, 'canary');
  const folder = write(world, 'notes', inside, 'x');
  writeFileSync(join(folder, 'main.mjs'), `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(canary)}, '');`);
  const elsewhere = join(world.home, 'elsewhere');
  renameSync(join(world.workspace, '.tenon'), elsewhere);
  symlinkSync(elsewhere, join(world.workspace, '.tenon'));
  const host = await world.open(options(world, world.workspace));
  const reasonOf = () => host.list().find(({ id }) => id === 'notes')?.reason ?? '';
  assert.match(reasonOf(), /\.tenon is a link; put the folder itself there/);
  rmSync(join(world.workspace, '.tenon'));
  mkdirSync(join(world.workspace, '.tenon'), { mode: 0o755 });
  symlinkSync(join(elsewhere, 'extensions'), inside);
  await host.reload(undefined, BY);
  assert.match(reasonOf(), /extensions is a link/);
  rmSync(join(world.workspace, '.tenon'), { recursive: true });
  renameSync(elsewhere, join(world.workspace, '.tenon'));
  chmodSync(join(world.workspace, '.tenon'), 0o777);
  await host.reload(undefined, BY);
  assert.match(reasonOf(), /everybody can write to .*\.tenon/);
  chmodSync(join(world.workspace, '.tenon'), 0o755);
  // Two workspaces, one name: the one of the default agent.
  mkdirSync(join(world.home, 'other'), { mode: 0o755 });
  write(world, 'notes', join(world.home, 'other/.tenon/extensions'), 'y');
  await host.reload(undefined, BY);
  assert.deepEqual([host.get('notes')?.folder, host.get('notes')?.state], [folder, 'off']);
  const second = await world.open(options(world, world.workspace, 'other'));
  assert.match(second.list().find(({ state }) => state === 'rejected')?.reason ?? '', /its name "notes" belongs to the extension in /);
  assert.throws(() => rmSync(canary), 'nothing of it ran');
});
