// Every command. Adding one is a file in commands/ and a line here.
import type { CommandSpec } from './command.ts';
import { agentLs } from './commands/agent-ls.ts';
import { approveAllow, approveAlways, approveDeny } from './commands/approve-answer.ts';
import { approveForget } from './commands/approve-forget.ts';
import { approveLs } from './commands/approve-ls.ts';
import { approveRules } from './commands/approve-rules.ts';
import { approveShow } from './commands/approve-show.ts';
import { attachGet } from './commands/attach-get.ts';
import { attachLs } from './commands/attach-ls.ts';
import { attachRm } from './commands/attach-rm.ts';
import { audit } from './commands/audit.ts';
import { backup } from './commands/backup.ts';
import { call } from './commands/call.ts';
import { chat } from './commands/chat.ts';
import { completion } from './commands/completion.ts';
import { configGet } from './commands/config-get.ts';
import { configSet } from './commands/config-set.ts';
import { configUnset } from './commands/config-unset.ts';
import { cronAdd } from './commands/cron-add.ts';
import { cronEdit } from './commands/cron-edit.ts';
import { cronHistory } from './commands/cron-history.ts';
import { cronList } from './commands/cron-list.ts';
import { cronPause, cronResume } from './commands/cron-pause.ts';
import { cronRm } from './commands/cron-rm.ts';
import { cronRun } from './commands/cron-run.ts';
import { cronShow } from './commands/cron-show.ts';
import { deviceApprove } from './commands/device-approve.ts';
import { deviceLs } from './commands/device-ls.ts';
import { deviceReject } from './commands/device-reject.ts';
import { deviceRename } from './commands/device-rename.ts';
import { deviceRevoke } from './commands/device-revoke.ts';
import { doctor } from './commands/doctor.ts';
import { events } from './commands/events.ts';
import { extCheck } from './commands/ext-check.ts';
import { extConform } from './commands/ext-conform.ts';
import { extDev } from './commands/ext-dev.ts';
import { extGrant } from './commands/ext-grant.ts';
import { extInspect } from './commands/ext-inspect.ts';
import { extInstall } from './commands/ext-install.ts';
import { extLogs } from './commands/ext-logs.ts';
import { extLs } from './commands/ext-ls.ts';
import { extNew } from './commands/ext-new.ts';
import { extReload } from './commands/ext-reload.ts';
import { extRevoke } from './commands/ext-revoke.ts';
import { extRm } from './commands/ext-rm.ts';
import { extRollback } from './commands/ext-rollback.ts';
import { extSearch } from './commands/ext-search.ts';
import { extTrust } from './commands/ext-trust.ts';
import { extUpdate } from './commands/ext-update.ts';
import { health } from './commands/health.ts';
import { heartbeatWake } from './commands/heartbeat-wake.ts';
import { logs } from './commands/logs.ts';
import { modelLs } from './commands/model-ls.ts';
import { modelLogin } from './commands/model-login.ts';
import { modelLogout } from './commands/model-logout.ts';
import { modelProbe } from './commands/model-probe.ts';
import { overview } from './commands/overview.ts';
import { pluginConfig } from './commands/plugin-config.ts';
import { pluginDisable } from './commands/plugin-disable.ts';
import { pluginEnable } from './commands/plugin-enable.ts';
import { pluginGrant } from './commands/plugin-grant.ts';
import { pluginHooks } from './commands/plugin-hooks.ts';
import { pluginInspect } from './commands/plugin-inspect.ts';
import { pluginLs } from './commands/plugin-ls.ts';
import { pluginReload } from './commands/plugin-reload.ts';
import { pluginRevoke } from './commands/plugin-revoke.ts';
import { pluginTrace } from './commands/plugin-trace.ts';
import { restart } from './commands/restart.ts';
import { restore } from './commands/restore.ts';
import { newStore } from './commands/new-store.ts';
import { salvage } from './commands/salvage.ts';
import { run } from './commands/run.ts';
import { secretLs } from './commands/secret-ls.ts';
import { secretRm } from './commands/secret-rm.ts';
import { secretSet } from './commands/secret-set.ts';
import { sessionBranch } from './commands/session-branch.ts';
import { sessionCompact } from './commands/session-compact.ts';
import { sessionExport } from './commands/session-export.ts';
import { sessionFork } from './commands/session-fork.ts';
import { sessionHistory } from './commands/session-history.ts';
import { sessionImport } from './commands/session-import.ts';
import { sessionLs } from './commands/session-ls.ts';
import { sessionNew } from './commands/session-new.ts';
import { sessionPatch } from './commands/session-patch.ts';
import { sessionReset } from './commands/session-reset.ts';
import { sessionRewind } from './commands/session-rewind.ts';
import { sessionRm } from './commands/session-rm.ts';
import { sessionShow } from './commands/session-show.ts';
import { sessionTree } from './commands/session-tree.ts';
import { start } from './commands/start.ts';
import { status } from './commands/status.ts';
import { stop } from './commands/stop.ts';
import { tokenLs } from './commands/token-ls.ts';
import { tokenNew } from './commands/token-new.ts';
import { tokenRevoke } from './commands/token-revoke.ts';
import { tokenRotate } from './commands/token-rotate.ts';
import { toolLs } from './commands/tool-ls.ts';
import { ui } from './commands/ui.ts';
import { usage } from './commands/usage.ts';

/** In the order of the help. */
export const commands: readonly CommandSpec[] = [
  overview,
  start,
  stop,
  restart,
  status,
  health,
  chat,
  run,
  ui,
  approveLs,
  approveShow,
  approveAllow,
  approveDeny,
  approveAlways,
  approveRules,
  approveForget,
  sessionLs,
  sessionShow,
  sessionNew,
  sessionPatch,
  sessionReset,
  sessionRm,
  sessionHistory,
  sessionTree,
  sessionBranch,
  sessionRewind,
  sessionFork,
  sessionCompact,
  sessionExport,
  sessionImport,
  cronList,
  cronShow,
  cronAdd,
  cronEdit,
  cronRm,
  cronRun,
  cronPause,
  cronResume,
  cronHistory,
  heartbeatWake,
  attachLs,
  attachGet,
  attachRm,
  agentLs,
  modelLs,
  modelLogin,
  modelLogout,
  modelProbe,
  toolLs,
  pluginLs,
  pluginInspect,
  pluginEnable,
  pluginDisable,
  pluginReload,
  pluginGrant,
  pluginRevoke,
  pluginConfig,
  pluginHooks,
  pluginTrace,
  extNew,
  extDev,
  extCheck,
  extConform,
  extInstall,
  extUpdate,
  extRollback,
  extRm,
  extSearch,
  extLs,
  extInspect,
  extLogs,
  extTrust,
  extGrant,
  extRevoke,
  extReload,
  secretSet,
  secretLs,
  secretRm,
  usage,
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
  salvage,
  newStore,
  completion,
];

/** The nouns that have verbs. */
export const groups: Readonly<Record<string, string>> = {
  approve: 'What waits for your answer: list, show, allow, deny',
  session: 'Conversations: list, show, make, change, delete',
  cron: 'Work at a later time: list, add, change, pause, run now, and what became of it',
  heartbeat: 'What agents do by themselves: wake one',
  attach: 'Files of conversations: list, save, remove',
  agent: 'The agents',
  model: 'The models: list, try',
  tool: 'The tools of the agents',
  plugin: 'Plugins: list, look into, switch on and off, grant, set up, trace',
  ext: 'Extensions, programs of their own in any language: install, find, list, trust, grant, update, remove',
  secret: 'Secrets that are kept for plugins: set, list, remove',
  token: 'Credentials for clients: make, list, revoke',
  device: 'Paired devices and requests to pair',
  config: 'Settings of tenon.toml: show and change',
};
