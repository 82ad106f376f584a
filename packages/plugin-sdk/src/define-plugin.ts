// The default export of a plugin's module.
import type { RegisterApi } from './api.ts';
import type { SessionsPatchExtension, SessionsPatchExtensionHandler } from './contributions.ts';

export interface PluginEntry {
  /** The same as in the manifest. */
  readonly id: string;
  readonly name?: string;
  /** Synchronous; runs once for each load. */
  readonly register: (api: RegisterApi) => void;
  /** What `sessions.patch` can ask of the plugin, by action. */
  readonly sessionsPatchExtensions?: Readonly<Record<string, SessionsPatchExtensionHandler | SessionsPatchExtension>>;
}

export function definePluginEntry(entry: PluginEntry): PluginEntry {
  return entry;
}
