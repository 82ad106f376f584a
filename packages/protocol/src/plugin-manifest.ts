// `tenon.plugin.json`: what a plugin says about itself before any of its code runs. The gateway reads it and nothing else
// to list plugins, to say what each asks for, and to check its configuration.
import { Type, type Static } from 'typebox';
import { Grant } from './grants.ts';
import { DisplayText, OwnerId } from './names.ts';
import { JsonObject } from './transcript.ts';

export const PLUGIN_MANIFEST_FILE = 'tenon.plugin.json';

/** The level of the plugin API that this gateway has. */
export const PLUGIN_API_LEVEL = 1;

export const PluginManifest = Type.Object(
  {
    id: OwnerId,
    name: Type.String({ minLength: 1, maxLength: 128 }),
    version: Type.String({ pattern: '^[0-9A-Za-z][0-9A-Za-z.+-]{0,63}$', description: 'a version, such as 1.0.0' }),
    description: Type.Optional(DisplayText),
    /** From the folder of the manifest; without it, `index.js`, `index.mjs` or `index.ts`, whichever is there first. */
    entry: Type.Optional(
      Type.String({
        maxLength: 256,
        pattern: '^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*\\.(js|mjs|ts|mts)$',
        description: 'the path of a module inside the folder, such as dist/index.js',
      }),
    ),
    /** The level of the plugin API that it was written for. */
    api: Type.Integer({ minimum: 1, maximum: 1_000 }),
    /** What it wants to be allowed. Nothing is granted by asking. */
    grants: Type.Array(Grant, { maxItems: 128, uniqueItems: true }),
    /** JSON Schema of its configuration; without it, there is nothing to configure. */
    configSchema: Type.Optional(JsonObject),
  },
  { additionalProperties: false },
);
export type PluginManifest = Static<typeof PluginManifest>;
