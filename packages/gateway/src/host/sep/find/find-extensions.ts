// Finds extensions by their manifests, and says of each what a plugin's manifest would: its id, and the grants that its
// capabilities, hooks and events need. Nothing of an extension is executed here. One that is not fit is listed with the reason.
import { lstat, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import {
  contributions,
  type HookName,
  type JsonObject,
  hookNames,
  hookNeeds,
  hookRow,
  parseJson,
  PLUGIN_API_LEVEL,
  type PluginManifest,
} from '@tenon/protocol';
import { type ExtensionManifest, manifestInPackage, readManifest, type Registrations } from '@tenon/protocol/sep';
import {
  asksFor,
  EXTENSION_MANIFEST_FILE,
  groupNames,
  isEventName,
  isFurtherEventName,
  isFurtherHookName,
  limits,
} from '@tenon/protocol/sep/wire';
import { parse, TomlError } from 'smol-toml';
import { isLoaderVariable } from '../../../kernel/loader-variables.ts';
import { exists, idFrom, type NotFit, RESERVED_IDS } from '../../discover.ts';
import { readManifestText, Unfit } from '../../manifest-text.ts';
import { type TreeRules, unfitFor } from '../../tree-hash.ts';
import { isSaidEvent } from '../bridge/events.ts';
import { furtherGrants, grantsOfGroup } from '../serve/group-grants.ts';
import { grantsOfEnvironment } from '../process/environment.ts';
import { grantsOfReach, reachOf } from '../process/sandbox.ts';
import { grantsOfResources } from '../resources.ts';
import { SEPARATOR } from '../bridge/tool-names.ts';

export interface FoundExtension {
  readonly folder: string;
  readonly manifest: ExtensionManifest;
  /** As the host of plugins knows it. */
  readonly asPlugin: PluginManifest;
  /** The workspace that it belongs to; without it, it is of the home. */
  readonly workspace?: string;
}

export interface FoundExtensions {
  readonly found: readonly FoundExtension[];
  readonly rejected: readonly NotFit[];
}

export const PACKAGE_FILE = 'package.json';
const MAX_EXTENSIONS = 256;

/** A folder, and the name that it is looked at under. */
export interface NamedFolder {
  readonly name: string;
  readonly folder: string;
}

/**
 * Contract: does not throw for what it finds. In the order of their names; the first of two with one name wins, and what is in
 * the place goes before what was installed.
 */
export async function findExtensions(
  place: string,
  uid: number | undefined,
  installed: readonly NamedFolder[] = [],
): Promise<FoundExtensions> {
  const found = new Map<string, FoundExtension>();
  const rejected: NotFit[] = [];
  const entries = await readdir(place, { withFileTypes: true }).catch(() => []);
  const put = entries
    .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith('.'))
    .map(({ name }) => ({ name, folder: join(place, name) }));
  for (const each of [...put, ...installed].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))) {
    const { name, folder } = each;
    const isInstalled = installed.includes(each);
    const reject = (reason: string, manifest?: PluginManifest) =>
      rejected.push({
        origin: 'path',
        folder,
        id: manifest?.id ?? (isInstalled ? name : idFrom(folder)),
        reason,
        isExtension: true,
        ...(manifest ? { manifest } : {}),
      });
    if (!isInstalled && !(await isExtension(folder))) continue;
    if (found.size + rejected.length >= MAX_EXTENSIONS) {
      reject(`there are more than ${MAX_EXTENSIONS} extensions; this one and those after it are not looked at`);
      break;
    }
    try {
      const extension = await readExtension(folder, { uid });
      const first = found.get(extension.manifest.name);
      if (first) reject(`its name "${extension.manifest.name}" belongs to the extension in ${first.folder}`, extension.asPlugin);
      else found.set(extension.manifest.name, extension);
    } catch (error) {
      if (error instanceof Unfit) reject(error.message, error.manifest);
      else if (isInstalled && codeOf(error) === 'ENOENT') reject('its files are not where they were installed; install it again');
      else reject(`it cannot be read (${codeOf(error) ?? 'unknown error'})`);
    }
  }
  return { found: [...found.values()], rejected };
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

async function isExtension(folder: string): Promise<boolean> {
  return (await exists(join(folder, EXTENSION_MANIFEST_FILE))) || exists(join(folder, PACKAGE_FILE));
}

/** What is in the folder, if an extension is. Throws `Unfit` with the reason why it is not. */
export async function readExtension(folder: string, rules: TreeRules): Promise<FoundExtension> {
  const at = await lstat(folder);
  if (at.isSymbolicLink()) throw new Unfit('the folder is a link; put the folder itself there');
  const unfit = unfitFor(at, 'the folder', rules);
  if (unfit !== undefined) throw new Unfit(unfit);
  const root = await realpath(folder);
  const read = readManifest(await rawManifest(root, rules));
  if (!read.ok) throw new Unfit(`its manifest does not fit: ${read.message}`);
  const { manifest } = read;
  const asPlugin = pluginManifestOf(manifest);
  const wrong = faultOf(manifest);
  if (wrong !== undefined) throw new Unfit(wrong, asPlugin);
  return { folder: root, manifest, asPlugin };
}

/** As it stands in the folder: an object that nobody has looked at. Throws `Unfit`. */
export async function rawManifest(root: string, rules: TreeRules): Promise<unknown> {
  const file = join(root, EXTENSION_MANIFEST_FILE);
  if (await exists(file)) {
    const text = await readManifestText(file, rules);
    try {
      return parse(text);
    } catch (error) {
      const why = (error as Error).message.split('\n')[0];
      const line = error instanceof TomlError ? ` in line ${error.line}` : '';
      throw new Unfit(`${EXTENSION_MANIFEST_FILE} is not TOML that can be read${line}: ${why?.replace(/^Invalid TOML document: /, '')}`);
    }
  }
  const parsed = parseJson(await readManifestText(join(root, PACKAGE_FILE), rules));
  if (!parsed.ok) throw new Unfit(`${PACKAGE_FILE} is not JSON that can be read: ${parsed.fault.reason}`);
  const manifest = manifestInPackage(parsed.value);
  if (manifest === undefined) throw new Unfit(`there is no ${EXTENSION_MANIFEST_FILE}, and ${PACKAGE_FILE} says nothing of an extension`);
  return manifest;
}

/** What keeps it from being used here, though its manifest is one. */
export function faultOf({ name, run, disabled, capabilities = {} }: ExtensionManifest): string | undefined {
  if (disabled) return 'its manifest says that it is disabled';
  if (RESERVED_IDS.has(name)) return `the name "${name}" is kept for the gateway`;
  if (name.includes(SEPARATOR)) return `the name "${name}" has ${SEPARATOR} in it, which stands between an extension and its tool`;
  const loader = Object.keys(run.env ?? {}).find(isLoaderVariable);
  if (loader !== undefined) return `run.env sets ${loader}, which makes programs load or run something else; it is never handed on`;
  const hook = capabilities.hooks?.find((each) => hookOf(each) === undefined);
  return hook === undefined ? undefined : `capabilities.hooks names "${hook}", and there is no such hook here`;
}

/** What the operator sets up of an extension: values for the flags that it declares. Their names are known once it has run. */
const FLAGS: JsonObject = {
  type: 'object',
  maxProperties: limits.registrations.value,
  additionalProperties: { type: ['boolean', 'number', 'string'], maxLength: 4_096 },
};

function pluginManifestOf(manifest: ExtensionManifest): PluginManifest {
  const { name, version, description } = manifest;
  const said = description === undefined ? {} : { description };
  return { id: name, name, version, ...said, api: PLUGIN_API_LEVEL, grants: grantsOf(manifest), configSchema: FLAGS };
}

/** What the operator is asked for: by groups, by hooks, by events. A group that is not served stays off. */
export function grantsOf(manifest: ExtensionManifest): string[] {
  const { capabilities = {} } = manifest;
  const { events = [] } = capabilities;
  const switched = groupNames.filter((group) => asksFor(group, capabilities));
  const asked = [
    ...switched.flatMap((group) => [...grantsOfGroup(group), ...furtherGrants(group)]),
    ...hooksIn(manifest).flatMap((each) => needsOf(hookOf(each))),
    ...events.flatMap(needsOfEvent),
    ...grantsOfReach(reachOf(manifest)),
    ...grantsOfEnvironment(manifest),
    ...grantsOfResources(manifest),
  ];
  return [...new Set(asked)];
}

/** Hooks that the manifest names. A manifest of plain SEP has no list of them and names them among its events. */
export function hooksIn({ capabilities = {} }: ExtensionManifest): readonly string[] {
  const { hooks, events = [] } = capabilities;
  return hooks ?? events.filter((each) => hookOf(each) !== undefined);
}

/**
 * What a manifest of plain SEP leaves open: it names no hooks, and events only to narrow them. What the process registers then is
 * a question to the operator, which is asked once.
 */
export function grantsWantedBy(manifest: ExtensionManifest, { hooks = [], subscriptions = [] }: Registrations): string[] {
  const { capabilities = {} } = manifest;
  const wanted = [
    ...(capabilities.hooks === undefined ? hookGrantsOf(manifest, { hooks }) : []),
    ...(capabilities.events?.length ? [] : subscriptions.flatMap(needsOfEvent)),
  ];
  return [...new Set(wanted)];
}

/**
 * What the operator must have granted for the hooks that a process takes part in. SDKs register what is both a hook and an event as
 * both: where the manifest has a list of hooks and leaves it out, it is meant as the event.
 */
export function hookGrantsOf({ capabilities = {} }: ExtensionManifest, { hooks = [] }: Pick<Registrations, 'hooks'>): string[] {
  const isMeant = (name: string) => !isEventName(name) || (capabilities.hooks?.includes(name) ?? true);
  return [...new Set(hooks.filter(isMeant).flatMap((each) => needsOf(hookOf(each))))];
}

function needsOf(name: HookName | undefined): readonly string[] {
  return name === undefined ? [] : hookNeeds(name);
}

function needsOfEvent(event: string): readonly string[] {
  return isSaidEvent(event) ? [contributions.eventSubscription.grant] : observedBy(event).flatMap(needsOf);
}

/** The hook of the gateway that extensions know by this name: that of SEP, or its own. */
export function hookOf(name: string): HookName | undefined {
  return hookNames.find((each) => hookRow(each).sep === name) ?? (isFurtherHookName(name) ? name : undefined);
}

/** The hooks that tell of this event. */
export function observedBy(event: string): HookName[] {
  return hookNames.filter((name) => hookRow(name).sepEvents?.includes(event) || (name === event && isFurtherEventName(event)));
}
