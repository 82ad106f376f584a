// Every operation of the store: a name and clonable arguments, so that it can cross into the writer thread and no
// callback can sit inside a transaction. Both engines run these and nothing else.
import {
  approvePairing,
  createToken,
  findDevice,
  findToken,
  listDevices,
  listPairings,
  listTokens,
  putSharedToken,
  rejectPairing,
  renameDevice,
  requestPairing,
  revokeDevice,
  revokeToken,
  rotateToken,
  touchDevice,
  touchToken,
} from './access.ts';
import { dismissAction, listActions, requireAction, withdrawActions } from './action-requests.ts';
import {
  expireApprovals,
  findRule,
  getApproval,
  listApprovals,
  listRules,
  removeRule,
  requestApproval,
  resolveApproval,
  voidApprovals,
} from './approvals.ts';
import { answerOnce, type AnswerSlot, completeAnswer, findAnswer } from './answers.ts';
import {
  abortUpload,
  beginUpload,
  commitUpload,
  expireAttachments,
  forgetGarbage,
  getAttachment,
  getUpload,
  knownDigests,
  listNeeded,
  listAttachments,
  listGarbage,
  removeAttachment,
} from './attachments.ts';
import { appendAudit, listAudit, verifyAuditPage } from './audit.ts';
import { finishCall, listOpenCalls, startCall } from './calls.ts';
import {
  countTroubled,
  createDelivery,
  dueDeliveries,
  findButton,
  getDelivery,
  listDeliveries,
  recordPress,
  routeOf,
  settleDelivery,
} from './deliveries.ts';
import { dueEdits, ownDelivery, settleEdit, updateDelivery } from './delivery-edits.ts';
import { appendEntry, moveLeaf } from './entries.ts';
import { forkSession, importEntries } from './entry-copies.ts';
import { exportEntries, getEntry, lastAnswerOf, readPath, readTree } from './entry-reads.ts';
import { countInjections, enqueueInjection, injectionsOfRun, listInjections, removeInjections } from './injections.ts';
import { getValue, listNames, putValue, removeValue, swapValue } from './extension-values.ts';
import { continueRun, endAndWake, handleAndWake, listWaiting, sayFor, wakeSession } from './continuations.ts';
import { removeJob, removeJobsOf } from './job-removal.ts';
import { addJob, getJob, listJobs, listOccurrences, pauseJob, resumeJob, updateJob } from './jobs.ts';
import { claimDue, listDue, nextDue, runNow, startWaiting } from './occurrences.ts';
import { commitAction } from './plugin-actions.ts';
import { acceptPlugin, getConsent, holdTools, recordTools, requestGrants } from './plugin-consents.ts';
import { askForPlugin } from './plugin-questions.ts';
import { commitState, getState, listStates, putState, removeState, snapshotOf, statesOfSession } from './plugin-state.ts';
import {
  forgetPlugin,
  grantPlugin,
  listGrants,
  listSettings,
  revokeGrant,
  holdPlugin,
  crashesOf,
  keepCrashes,
  keepNames,
  setConfig,
  setEnabled,
} from './plugins.ts';
import { countRows, probe, sweep } from './retention.ts';
import { getRun, getRunMessage, listOpenRuns, listQueuedRuns, listRunsOf } from './run-row.ts';
import { acceptRun, appendToRun, beginRun, cancelQueuedOf, cancelQueuedRuns } from './runs.ts';
import { createSession, deleteSession, expectSession, getSession, listSessions, patchSession, resetSession } from './sessions.ts';
import type { Dialect, Operation } from './sql.ts';
import { readStream, streamState } from './stream.ts';
import { answerQuestion, askPeople, getQuestion, listQuestions, pressAnswer, settleQuestions } from './ui-questions.ts';
import { sumUsage } from './usage.ts';

export const writes = {
  'sessions.create': createSession,
  'sessions.patch': patchSession,
  'sessions.reset': resetSession,
  'sessions.delete': deleteSession,
  'sessions.fork': forkSession,
  'entries.append': appendEntry,
  'entries.move': moveLeaf,
  'entries.import': importEntries,
  'runs.accept': acceptRun,
  'runs.begin': beginRun,
  'runs.append': appendToRun,
  'runs.end': endAndWake,
  'runs.handle': handleAndWake,
  'runs.continue': continueRun,
  'runs.sayFor': sayFor,
  'runs.wake': wakeSession,
  'runs.cancelQueued': cancelQueuedRuns,
  'runs.cancelQueuedOf': cancelQueuedOf,
  'calls.start': startCall,
  'calls.finish': finishCall,
  'approvals.request': requestApproval,
  'approvals.askForPlugin': askForPlugin,
  'approvals.resolve': resolveApproval,
  'approvals.expire': expireApprovals,
  'approvals.voidFor': voidApprovals,
  'approvals.removeRule': removeRule,
  'pluginState.put': putState,
  'pluginState.remove': removeState,
  'pluginState.commit': commitState,
  'extensionValues.put': putValue,
  'extensionValues.remove': removeValue,
  'extensionValues.swap': swapValue,
  'injections.enqueue': enqueueInjection,
  'injections.remove': removeInjections,
  'jobs.add': addJob,
  'jobs.update': updateJob,
  'jobs.pause': pauseJob,
  'jobs.resume': resumeJob,
  'jobs.remove': removeJob,
  'jobs.removeOf': removeJobsOf,
  'jobs.claim': claimDue,
  'jobs.runNow': runNow,
  'jobs.startWaiting': startWaiting,
  'plugins.act': commitAction,
  'plugins.grant': grantPlugin,
  'plugins.accept': acceptPlugin,
  'plugins.recordTools': recordTools,
  'plugins.requestGrants': requestGrants,
  'plugins.holdTools': holdTools,
  'plugins.revokeGrant': revokeGrant,
  'plugins.setEnabled': setEnabled,
  'plugins.setConfig': setConfig,
  'plugins.keepNames': keepNames,
  'plugins.keepCrashes': keepCrashes,
  'plugins.hold': holdPlugin,
  'plugins.forget': forgetPlugin,
  'tokens.putShared': putSharedToken,
  'tokens.create': createToken,
  'tokens.rotate': rotateToken,
  'tokens.revoke': revokeToken,
  'tokens.touch': touchToken,
  'pairing.request': requestPairing,
  'pairing.approve': approvePairing,
  'pairing.reject': rejectPairing,
  'device.rename': renameDevice,
  'device.revoke': revokeDevice,
  'device.touch': touchDevice,
  'attachments.begin': beginUpload,
  'attachments.commit': commitUpload,
  'attachments.abort': abortUpload,
  'attachments.remove': removeAttachment,
  'attachments.expire': expireAttachments,
  'attachments.forgetGarbage': forgetGarbage,
  'deliveries.create': createDelivery,
  'deliveries.settle': settleDelivery,
  'deliveries.press': recordPress,
  'deliveries.update': updateDelivery,
  'deliveries.settleEdit': settleEdit,
  'actions.require': requireAction,
  'actions.withdraw': withdrawActions,
  'actions.dismiss': dismissAction,
  'ui.ask': askPeople,
  'ui.answer': answerQuestion,
  'ui.press': pressAnswer,
  'ui.settle': settleQuestions,
  'audit.append': appendAudit,
  /** Records the answer of a method whose effect is not in the store. */
  'answer.record': recordAnswer,
  'answer.complete': completeAnswer,
  'retention.sweep': sweep,
  probe,
} satisfies Record<string, AnyOperation>;

export const reads = {
  'sessions.get': getSession,
  'sessions.expect': expectSession,
  'sessions.list': listSessions,
  'entries.path': readPath,
  'entries.get': getEntry,
  'entries.lastAnswer': lastAnswerOf,
  'entries.tree': readTree,
  'entries.export': exportEntries,
  'runs.get': getRun,
  'runs.message': getRunMessage,
  'runs.open': listOpenRuns,
  'runs.openIn': listRunsOf,
  'runs.queued': listQueuedRuns,
  'calls.open': listOpenCalls,
  'approvals.list': listApprovals,
  'approvals.get': getApproval,
  'approvals.findRule': findRule,
  'approvals.rules': listRules,
  'usage.sum': sumUsage,
  'pluginState.get': getState,
  'pluginState.ofSession': statesOfSession,
  'pluginState.snapshot': snapshotOf,
  'pluginState.list': listStates,
  'extensionValues.get': getValue,
  'extensionValues.list': listNames,
  'injections.list': listInjections,
  'injections.counts': countInjections,
  'injections.ofRun': injectionsOfRun,
  'injections.sessions': listWaiting,
  'jobs.get': getJob,
  'jobs.list': listJobs,
  'jobs.due': listDue,
  'jobs.nextDue': nextDue,
  'jobs.history': listOccurrences,
  'plugins.grants': listGrants,
  'plugins.settings': listSettings,
  'plugins.crashes': crashesOf,
  'plugins.consent': getConsent,
  'attachments.get': getAttachment,
  'attachments.list': listAttachments,
  'attachments.upload': getUpload,
  'attachments.garbage': listGarbage,
  'attachments.known': knownDigests,
  'attachments.needed': listNeeded,
  'deliveries.list': listDeliveries,
  'deliveries.due': dueDeliveries,
  'deliveries.troubled': countTroubled,
  'deliveries.get': getDelivery,
  'deliveries.own': ownDelivery,
  'deliveries.dueEdits': dueEdits,
  'deliveries.button': findButton,
  'routes.get': routeOf,
  'actions.pending': listActions,
  'ui.pending': listQuestions,
  'ui.get': getQuestion,
  'tokens.find': findToken,
  'tokens.list': listTokens,
  'pairing.list': listPairings,
  'device.find': findDevice,
  'device.list': listDevices,
  'audit.list': listAudit,
  'audit.verifyPage': verifyAuditPage,
  'tables.count': countRows,
  'answer.find': findAnswer,
  'stream.read': readStream,
  'stream.state': streamState,
} satisfies Record<string, AnyOperation>;

/** What must be possible on a full store, because it makes room or takes away a right. */
export const makesRoom: ReadonlySet<WriteName> = new Set<WriteName>([
  'sessions.delete',
  'tokens.revoke',
  'device.revoke',
  'pairing.reject',
  'approvals.expire',
  'approvals.voidFor',
  'approvals.removeRule',
  'runs.end',
  'runs.cancelQueued',
  'runs.cancelQueuedOf',
  'pluginState.remove',
  'extensionValues.remove',
  'injections.remove',
  'jobs.pause',
  'jobs.remove',
  'jobs.removeOf',
  'plugins.revokeGrant',
  'plugins.setEnabled',
  'plugins.hold',
  'plugins.holdTools',
  'plugins.forget',
  'attachments.abort',
  'attachments.remove',
  'attachments.expire',
  'attachments.forgetGarbage',
  'actions.withdraw',
  'actions.dismiss',
  'ui.settle',
  'retention.sweep',
]);

// biome-ignore lint/suspicious/noExplicitAny: the generic slot of the table; each row has its own argument type
type AnyOperation = (args: any, dialect: Dialect) => Operation<unknown>;

export type WriteName = keyof typeof writes;
export type ReadName = keyof typeof reads;
export type WriteArgs<Name extends WriteName> = Parameters<(typeof writes)[Name]>[0];
export type ReadArgs<Name extends ReadName> = Parameters<(typeof reads)[Name]>[0];
export type WriteResult<Name extends WriteName> = ResultOf<ReturnType<(typeof writes)[Name]>>;
export type ReadResult<Name extends ReadName> = ResultOf<ReturnType<(typeof reads)[Name]>>;
type ResultOf<O> = O extends Operation<infer Result> ? Result : never;

export interface WriteRequest {
  readonly name: WriteName;
  readonly args: unknown;
  readonly slot: AnswerSlot | undefined;
}

/** The operation of a request, with its answer kept where the request has a key. */
export function operationOf(request: WriteRequest, dialect: Dialect): Operation<unknown> {
  const operation = writes[request.name] as (args: unknown, dialect: Dialect) => Operation<unknown>;
  if (!request.slot) return operation(request.args, dialect);
  return answerOnce(request.slot, () => operation(request.args, dialect));
}

/** What must happen in the order it was asked for: operations of one lane never overtake each other. */
export function laneOf(args: unknown): string | undefined {
  const { key, lane = key } = args as { key?: unknown; lane?: unknown };
  return typeof lane === 'string' ? lane : undefined;
}

// biome-ignore lint/correctness/useYield: an operation that asks the store nothing is still one
function* recordAnswer<Answer>(args: { answer: Answer }): Operation<Answer> {
  return args.answer;
}
