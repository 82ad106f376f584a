// Every command. Adding one is a file in commands/ and a line here.
import type { CommandSpec } from './command.ts';
import { audit } from './commands/audit.ts';
import { backup } from './commands/backup.ts';
import { call } from './commands/call.ts';
import { completion } from './commands/completion.ts';
import { configGet } from './commands/config-get.ts';
import { configSet } from './commands/config-set.ts';
import { configUnset } from './commands/config-unset.ts';
import { deviceApprove } from './commands/device-approve.ts';
import { deviceLs } from './commands/device-ls.ts';
import { deviceReject } from './commands/device-reject.ts';
import { deviceRename } from './commands/device-rename.ts';
import { deviceRevoke } from './commands/device-revoke.ts';
import { doctor } from './commands/doctor.ts';
import { events } from './commands/events.ts';
import { health } from './commands/health.ts';
import { logs } from './commands/logs.ts';
import { overview } from './commands/overview.ts';
import { restore } from './commands/restore.ts';
import { sessionLs } from './commands/session-ls.ts';
import { sessionNew } from './commands/session-new.ts';
import { sessionPatch } from './commands/session-patch.ts';
import { sessionReset } from './commands/session-reset.ts';
import { sessionRm } from './commands/session-rm.ts';
import { sessionShow } from './commands/session-show.ts';
import { start } from './commands/start.ts';
import { status } from './commands/status.ts';
import { stop } from './commands/stop.ts';
import { tokenLs } from './commands/token-ls.ts';
import { tokenNew } from './commands/token-new.ts';
import { tokenRevoke } from './commands/token-revoke.ts';
import { tokenRotate } from './commands/token-rotate.ts';

/** In the order of the help. */
export const commands: readonly CommandSpec[] = [
  overview,
  start,
  stop,
  status,
  health,
  sessionLs,
  sessionShow,
  sessionNew,
  sessionPatch,
  sessionReset,
  sessionRm,
  events,
  logs,
  call,
  tokenNew,
  tokenLs,
  tokenRevoke,
  tokenRotate,
  deviceLs,
  deviceApprove,
  deviceReject,
  deviceRename,
  deviceRevoke,
  configGet,
  configSet,
  configUnset,
  audit,
  doctor,
  backup,
  restore,
  completion,
];

/** The nouns that have verbs. */
export const groups: Readonly<Record<string, string>> = {
  session: 'Conversations: list, show, make, change, delete',
  token: 'Credentials for clients: make, list, revoke',
  device: 'Paired devices and requests to pair',
  config: 'Settings of tenon.toml: show and change',
};
