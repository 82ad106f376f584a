// Whether the configuration of a plugin fits the schema in its manifest.
import type { JsonObject, PluginManifest } from '@tenon/protocol';
import { compileSchema } from './json-schema.ts';

/** What is wrong with it. */
export function configFault(manifest: PluginManifest, config: JsonObject): string | undefined {
  if (manifest.configSchema === undefined) return Object.keys(config).length === 0 ? undefined : 'the plugin has nothing to configure';
  const compiled = compileSchema(manifest.configSchema);
  return compiled.ok ? compiled.check(config, 'config') : compiled.message;
}
