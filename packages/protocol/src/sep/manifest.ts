// `extension.toml`: what an extension says about itself before any of its code runs. The same object may stand as JSON under a
// key of package.json. TOML itself is read by whoever has a parser; here it is an object.
import { Type, type Static } from 'typebox';
import { DisplayText, OwnerId } from '../names.ts';
import { explain, faultsIn, type PlacedFault, reading } from '../validate.ts';
import { closed } from './shapes.ts';
import { groupNames, isEnvName, limits, PACKAGE_JSON_KEYS, PROTOCOL_VERSION, type SepGroup, toolWorlds } from './wire.ts';

const Optional = Type.Optional;
const Switch = Optional(Type.Boolean());

/** Inside the folder of the extension: no way up, no root. */
const InnerPath = Type.String({
  minLength: 1,
  maxLength: 256,
  pattern: '^(?!/)(?!(?:[\\s\\S]*/)?\\.\\.(?:/|$))[^\\\\\\x00]+$',
  description: 'a relative path inside the folder of the extension',
});

/** A place of the machine, for the sandbox. */
const OuterPath = Type.String({
  maxLength: 1_024,
  pattern: '^(?:/|~/|workspace$|workspace/)(?!(?:[\\s\\S]*/)?\\.\\.(?:/|$))[^\\x00]*$',
  description: 'an absolute path, one under ~/, or workspace for the workspace of the agent',
});

const Capabilities = Type.Object(
  {
    ...(Object.fromEntries(groupNames.map((group) => [group, Switch])) as Record<SepGroup, typeof Switch>),
    events: Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
        maxItems: 128,
        description: 'the only events it may follow; empty: all',
      }),
    ),
    hooks: Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { maxItems: 64, description: 'hooks that it takes part in' }),
    ),
    net: Optional(Type.Boolean({ description: 'whether it needs the network' })),
    fs: Optional(
      Type.Object(
        { read: Optional(Type.Array(OuterPath, { maxItems: 64 })), write: Optional(Type.Array(OuterPath, { maxItems: 64 })) },
        closed,
      ),
    ),
  },
  closed,
);

export const ExtensionManifest = Type.Object(
  {
    name: OwnerId,
    version: Type.String({ minLength: 1, maxLength: 64 }),
    description: Optional(DisplayText),
    protocol: Optional(Type.Integer({ minimum: 1, description: `the highest version it speaks; without it, ${PROTOCOL_VERSION}` })),
    run: Type.Object(
      {
        command: Type.String({ minLength: 1, maxLength: 1_024, description: 'a program in PATH, or a path' }),
        args: Optional(Type.Array(Type.String({ maxLength: 4_096 }), { maxItems: 64 })),
        env: Optional(
          Type.Unsafe<Readonly<Record<string, string>>>({
            type: 'object',
            maxProperties: 64,
            additionalProperties: { type: 'string', maxLength: 32_768 },
            description: `variables; \${env:NAME} in a value is that variable of the host`,
          }),
        ),
        sha256: Optional(Type.String({ pattern: '^[0-9A-Fa-f]{64}$', description: 'of the program that is run, in hex' })),
      },
      closed,
    ),
    capabilities: Optional(Capabilities),
    resources: Optional(Type.Object({ skills: Optional(InnerPath), prompts: Optional(InnerPath), themes: Optional(InnerPath) }, closed)),
    tool_names: Optional(
      Type.Enum([...toolWorlds], {
        description:
          'by which names it knows the tools of the agent: those of SEP and pi (`bash`), or those of Tenon (`exec`); without it, sep',
      }),
    ),
    hook_timeout_ms: Optional(Type.Integer({ minimum: 1 })),
    disabled: Switch,
    sandbox: Optional(
      Type.Object(
        {
          image: Type.String({ minLength: 1 }),
          memory: Optional(Type.Union([Type.String(), Type.Integer({ minimum: 1 })])),
          cpus: Optional(Type.Number({ minimum: 0 })),
          network: Optional(Type.Enum(['none', 'egress'])),
          allow_domains: Optional(Type.Array(Type.String())),
        },
        { ...closed, description: 'for hosts that run extensions in a virtual machine; others pass over it' },
      ),
    ),
  },
  closed,
);
export type ExtensionManifest = Static<typeof ExtensionManifest>;

export type ReadManifest =
  | { readonly ok: true; readonly manifest: ExtensionManifest; readonly unknown: readonly string[] }
  | { readonly ok: false; readonly message: string };

/** The manifest in an object that was read from TOML or JSON. Keys that are not known are named, not refused. */
export function readManifest(given: unknown): ReadManifest {
  const message = explain(reading(ExtensionManifest), given, 'manifest');
  if (message !== undefined) return { ok: false, message };
  const manifest = given as ExtensionManifest;
  const badName = Object.keys(manifest.run.env ?? {}).find((name) => !isEnvName(name));
  if (badName !== undefined) return { ok: false, message: `manifest/run/env has "${badName}", which cannot be the name of a variable` };
  return { ok: true, manifest, unknown: unknownKeys(manifest) };
}

/** Everything that is wrong with it, where `readManifest` says the first. */
export function manifestFaults(given: unknown): PlacedFault[] {
  const faults = faultsIn(reading(ExtensionManifest), given);
  if (faults.length > 0) return faults;
  const names = Object.keys((given as ExtensionManifest).run.env ?? {}).filter((name) => !isEnvName(name));
  return names.map((name) => ({ place: `/run/env/${name}`, message: 'cannot be the name of a variable' }));
}

/** The manifest in a package.json: under the first of the keys that it has, with name and version of the package where it says none. */
export function manifestInPackage(packageJson: unknown): unknown {
  if (typeof packageJson !== 'object' || packageJson === null) return undefined;
  const source = packageJson as Readonly<Record<string, unknown>>;
  const key = PACKAGE_JSON_KEYS.find((each) => typeof source[each] === 'object' && source[each] !== null);
  if (key === undefined) return undefined;
  const { name, version } = source;
  return {
    ...(typeof name === 'string' ? { name: bareName(name) } : {}),
    ...(version === undefined ? {} : { version }),
    ...(source[key] as object),
  };
}

/** The time that a hook may take: as the manifest says, within bounds, else as the hook says. */
export function hookTimeoutOf(manifest: Pick<ExtensionManifest, 'hook_timeout_ms'>, timeoutMs: number): number {
  const { hook_timeout_ms: wanted } = manifest;
  return wanted === undefined ? timeoutMs : Math.min(limits.hookTimeoutMaxMs.value, Math.max(limits.hookTimeoutMinMs.value, wanted));
}

const VARIABLE = /\$\{env:([^}]*)\}/g;

/** Every `${env:NAME}` as the variable of that name; nothing where it is not set. One that does not end stays as it is. */
export function expandEnv(value: string, env: Readonly<Record<string, string | undefined>>): string {
  return value.replace(VARIABLE, (_, name: string) => env[name] ?? '');
}

/** The variables of the host that the values of `run.env` name. */
export function variablesOf({ run }: Pick<ExtensionManifest, 'run'>): string[] {
  const named = Object.values(run.env ?? {}).flatMap((value) => [...value.matchAll(VARIABLE)].map(([, name = '']) => name));
  return [...new Set(named)];
}

/** `@scope/name` is called `name`. */
function bareName(name: string): string {
  return name.startsWith('@') ? name.slice(name.indexOf('/') + 1) : name;
}

function unknownKeys(manifest: ExtensionManifest): string[] {
  const parts: readonly [string, object | undefined, object][] = [
    ['', manifest, ExtensionManifest.properties],
    ['run.', manifest.run, ExtensionManifest.properties.run.properties],
    ['capabilities.', manifest.capabilities, Capabilities.properties],
    ['resources.', manifest.resources, ExtensionManifest.properties.resources.properties],
  ];
  return parts.flatMap(([prefix, given, known]) =>
    Object.keys(given ?? {})
      .filter((key) => !Object.hasOwn(known, key))
      .map((key) => prefix + key),
  );
}
