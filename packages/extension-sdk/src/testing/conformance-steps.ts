// What an extension is asked to show, one step each. A step throws where it fails, and returns a reason where there is nothing
// to try. Values come from what the extension has registered.
import { furtherHookShapes } from '@tenon/protocol/sep';
import {
  deltaTypes,
  errors,
  hookNames,
  isFurtherHookName,
  isHookName,
  limits,
  registrations as kinds,
  type SepMethodName,
} from '@tenon/protocol/sep/wire';
import { RpcError } from '../index.ts';
import { sampleArguments, sampleDueTurn, sampleEntry, sampleInput, samplePayload, samplePolicyCall } from './samples.ts';
import type { InitializeResult, Registrations } from './scripted-host.ts';
import type { RunningExtension } from './running-extension.ts';

export interface StepDeps {
  /** A running extension that was initialized; a new one where the last one has ended. */
  subject(): Promise<RunningExtension>;
  /** One that was told that the host has everything that Tenon has beyond SEP. */
  subjectWithSeams(): Promise<RunningExtension>;
  /** A further process, not initialized. */
  fresh(): RunningExtension;
  /** What `subject` gave so far. */
  subjects(): readonly RunningExtension[];
  readonly timeoutMs: number;
}

/** Undefined: shown. Text: why there was nothing to show. */
export type Step = (deps: StepDeps) => Promise<string | undefined> | Promise<void>;

type Fields = Readonly<Record<string, unknown>>;

async function registered(deps: StepDeps): Promise<{ subject: RunningExtension; registrations: Registrations; answer: InitializeResult }> {
  const subject = await deps.subject();
  const answer = await subject.host.initialize();
  return { subject, answer, registrations: answer.registrations ?? {} };
}

const own = (subject: RunningExtension, id: string, method: string, params: Fields = {}) => {
  const answer = subject.answerTo(id);
  subject.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
  return answer;
};

export const conformanceSteps: Readonly<Record<string, Step>> = {
  'initialize is answered': async (deps) => {
    const { answer } = await registered(deps);
    expect(answer.extension.name !== '', 'The extension has no name');
  },
  'registrations are named once': async (deps) => {
    const { registrations } = await registered(deps);
    for (const [kind, items] of Object.entries(registrations) as [string, readonly unknown[]][]) {
      const row: { readonly later: boolean; readonly key?: string; readonly beyond?: true } | undefined = Object.hasOwn(kinds, kind)
        ? kinds[kind as keyof typeof kinds]
        : undefined;
      expect(row !== undefined, `There are no registrations called ${kind}`);
      expect(!row?.beyond, `${kind} are Tenon's own, and this host has not said that it has them`);
      const names = items.map((item) => (row?.key === undefined ? item : (item as Fields)[row.key]));
      const twice = names.find((name, index) => names.indexOf(name) !== index);
      expect(twice === undefined, `${String(twice)} is twice among the ${kind}`);
      expect(items.length <= limits.registrations.value, `${items.length} ${kind}; a host takes ${limits.registrations.value}`);
    }
    const unknown = registrations.hooks?.find((hook) => !isHookName(hook));
    expect(unknown === undefined, `There is no hook "${unknown}"`);
  },
  'ping is answered': async (deps) => {
    const { subject } = await registered(deps);
    await subject.host.ping();
  },
  'ids are given back as they came': async (deps) => {
    const { subject } = await registered(deps);
    const { id, result } = await own(subject, 'an id of text', 'ping');
    expect(id === 'an id of text' && result !== undefined, 'The answer to a request with an id of text has another id');
  },
  'many requests at once are all answered': async (deps) => {
    const { subject } = await registered(deps);
    await Promise.all(Array.from({ length: MANY }, () => subject.host.ping()));
  },
  'fields that are not known are ignored': async (deps) => {
    const { subject } = await registered(deps);
    const { result } = await own(subject, 'with more', 'ping', { a_field_of_a_later_version: [1] });
    expect(result !== undefined, 'A ping with a further field is refused');
  },
  'a method that is not there is refused': async (deps) => {
    const { subject } = await registered(deps);
    const { error } = await own(subject, 'no method', 'conformance/no_such_method');
    expect((error as Fields | undefined)?.code === errors.MethodNotFound.code, `The answer is not ${errors.MethodNotFound.code}`);
  },
  'a notification that is not known changes nothing': async (deps) => {
    const { subject } = await registered(deps);
    subject.write(JSON.stringify({ jsonrpc: '2.0', method: 'conformance/no_such_notification', params: {} }));
    subject.write(JSON.stringify({ jsonrpc: '2.0', method: '$/cancel', params: { id: 'nobody has asked' } }));
    await subject.host.ping();
  },
  'lines that are no frames change nothing': async (deps) => {
    const { subject } = await registered(deps);
    for (const line of [
      '',
      'null',
      '5',
      '"text"',
      'true',
      '[]',
      '{}',
      '{',
      'not JSON',
      '{"jsonrpc":"2.0","id":1}',
      '{"jsonrpc":"2.0","method":5}',
    ]) {
      subject.write(line);
      await subject.host.ping();
    }
  },
  'every tool answers arguments that fit': async (deps) => {
    const { subject, registrations } = await registered(deps);
    if (!registrations.tools?.length) return 'it has no tools';
    for (const { name, parameters } of registrations.tools) await usePatiently(subject, name, sampleArguments(parameters) as Fields);
    return undefined;
  },
  'every tool answers arguments that do not fit': async (deps) => {
    const { registrations } = await registered(deps);
    if (!registrations.tools?.length) return 'it has no tools';
    // In a process of its own: what a tool makes of nonsense, a host may refuse.
    const subject = deps.fresh();
    for (const { name } of registrations.tools) await usePatiently(subject, name, { 'no such field': [[]] });
    return undefined;
  },
  'a tool that is not there is a result': async (deps) => {
    const { subject } = await registered(deps);
    const { is_error, content } = await subject.host.callTool(NOBODY);
    expect(is_error === true, `The result for an unknown tool is not an error: ${content}`);
  },
  'a tool call that is cancelled is answered once': async (deps) => {
    const { subject, registrations } = await registered(deps);
    const [tool] = registrations.tools ?? [];
    if (!tool) return 'it has no tools';
    const answer = own(subject, 'cancelled', 'tool/execute', toolCall(tool.name, sampleArguments(tool.parameters) as Fields));
    subject.write(JSON.stringify({ jsonrpc: '2.0', method: '$/cancel', params: { id: 'cancelled' } }));
    const { error, result } = await answer;
    const code = (error as Fields | undefined)?.code;
    expect(result !== undefined || code === errors.Cancelled.code, `A cancelled call is answered with ${String(code)}`);
    await subject.host.ping();
    return undefined;
  },
  'every command answers': async (deps) => {
    const { subject, registrations } = await registered(deps);
    if (!registrations.commands?.length) return 'it has no commands';
    for (const { name } of registrations.commands) {
      await subject.host.runCommand(name, '');
      await subject.host.completeCommand(name, '');
    }
    return undefined;
  },
  'a command that is not there is a result': async (deps) => {
    const { subject } = await registered(deps);
    await subject.host.runCommand(NOBODY);
    const found = await subject.host.completeCommand(NOBODY);
    expect(found.length === 0, 'A command that is not there has completions');
  },
  'every hook has an outcome': async (deps) => {
    const { subject, registrations } = await registered(deps);
    const declared = (registrations.hooks ?? []).filter(isHookName);
    for (const hook of hookNames) {
      const isDeclared = declared.includes(hook);
      const outcome = await subject.host.callHook(hook, sampleInput(hook));
      if (isDeclared && outcome.action === 'modify') {
        const missing = Object.keys(sampleInput(hook)).find((name) => !Object.hasOwn(outcome.patch as object, name));
        expect(missing === undefined, `The patch of ${hook} has no "${missing}": hosts replace the whole value`);
      }
      if (!isDeclared && declared.length > 0) expect(outcome.action === 'continue', `${hook} is not declared, and does not continue`);
    }
    return declared.length === 0 ? 'it declares no hooks; all of them continue' : undefined;
  },
  'every event is taken': async (deps) => {
    const { subject, registrations } = await registered(deps);
    const followed = registrations.subscriptions ?? [];
    for (const event of [...followed, 'events_lost', 'session_start', 'an_event_of_a_later_version'])
      await subject.host.sendEvent(event, samplePayload(event));
    return followed.length === 0 ? 'it follows no events; those that come unasked are taken' : undefined;
  },
  'every provider completes, whole and in pieces': async (deps) => {
    const { subject, registrations } = await registered(deps);
    if (!registrations.providers?.length) return 'it has no providers';
    for (const { name, models = [] } of registrations.providers) {
      for (const stream of [false, true]) {
        const { deltas, result } = await subject.host.complete({
          ...{ provider: name, model: models[0]?.id ?? 'model', stream },
          messages: [{ role: 'user', content: 'hello' }],
        });
        expect(stream || deltas.length === 0, 'Pieces were sent for a call that did not ask for them');
        const odd = deltas.find(({ type }) => !Object.hasOwn(deltaTypes, String(type)));
        expect(odd === undefined, `There are no pieces of the type ${JSON.stringify(odd?.type)}`);
        const told = deltas.filter(({ type }) => type === 'Delta').map(({ content }) => content);
        expect(!stream || !result.content || told.length > 0, 'The text of a streamed call must come in pieces: hosts take it from there');
      }
    }
    return undefined;
  },
  'every provider with a sign-in gives credentials': async (deps) => {
    const { subject, registrations } = await registered(deps);
    const signIns = (registrations.providers ?? []).filter(({ oauth }) => oauth);
    if (signIns.length === 0) return 'it has no provider with a sign-in';
    for (const { name } of signIns) {
      const { refresh_token } = await subject.host.oauthLogin(name);
      await subject.host.oauthRefresh(name, typeof refresh_token === 'string' ? refresh_token : 'token');
    }
    return undefined;
  },
  "what it has for Tenon's seams answers": async (deps) => {
    const { host } = await deps.subjectWithSeams();
    const { registrations = {} } = await host.initialize();
    const place = { session_key: 'agent:main:main', agent_id: 'main' };
    const client = { scopes: ['operator.write'] };
    const list = (kind: string) => (Array.isArray(registrations[kind]) ? (registrations[kind] as readonly Fields[]) : []);
    const calls: readonly (readonly [SepMethodName, Fields])[] = [
      ...list('actions').map(({ id, schema }) => ['action/execute', { action: id, payload: sampleArguments(schema), client }] as const),
      ...list('patch_actions').map(({ action }) => ['patch_action/execute', { action, entry: sampleEntry, client }] as const),
      ...list('interactions').map(
        ({ namespace }) => ['interaction/press', { namespace, channel: 'chat', payload: 'press', client }] as const,
      ),
      ...list('policies').map(({ id }) => ['policy/decide', { ...samplePolicyCall, policy: id }] as const),
      ...list('scheduled_turns').map(({ id }) => ['schedule/due', { ...sampleDueTurn, handler: id }] as const),
    ];
    const elsewhere: readonly (readonly [SepMethodName, Fields])[] = [
      ...list('scheduler_jobs').map(({ id }) => ['schedule/clean_up', { job: id, reason: 'delete' }] as const),
      ...list('gateway_methods').map(({ name }) => ['gateway_method/call', { name, params: {}, client }] as const),
      ...list('startup_checks').map(({ id }) => ['startup_check/run', { check: id }] as const),
      ...(registrations.hooks ?? [])
        .filter(isFurtherHookName)
        .map((hook) => ['hook', { hook, input: sampleArguments(furtherHookShapes[hook].input) as Fields }] as const),
    ];
    for (const [method, params] of calls) await host.dispatch(method, { ...place, ...params });
    for (const [method, params] of elsewhere) await host.dispatch(method, params);
    if (calls.length + elsewhere.length > 0) return undefined;
    return list('state').length + list('descriptors').length + list('tool_facts').length > 0 ? undefined : 'it has nothing for them';
  },
  'what it has written fits the protocol': async (deps) => {
    const faults = deps.subjects().flatMap(({ host }) => host.faults);
    expect(faults.length === 0, faults.slice(0, 5).join('; '));
    const isSilent = deps.subjects().every(({ host }) => host.calls.length === 0);
    return isSilent ? 'it has asked the host for nothing' : undefined;
  },
  'shutdown is answered, and it exits': async (deps) => {
    const { subject } = await registered(deps);
    await subject.host.shutdown();
    const code = await subject.exited;
    expect(code === 0, `It ended with ${code}`);
  },
  'a new process has the same registrations': async (deps) => {
    const first = await registered(deps);
    const again = deps.fresh();
    const answer = await again.host.initialize();
    expect(JSON.stringify(answer) === JSON.stringify(first.answer), 'A second process registers something else');
  },
  'it exits when its host is gone': async (deps) => {
    const { subject } = await registered(deps);
    subject.endInput();
    await subject.exited;
  },
};

/** A tool may take as long as it likes, but it lets itself be cancelled. What it throws is an answer too. */
async function usePatiently(subject: RunningExtension, name: string, args: Fields): Promise<void> {
  try {
    await subject.host.callTool(name, args, { signal: AbortSignal.timeout(TOOL_MS) });
  } catch (thrown) {
    if (!(thrown instanceof RpcError) || subject.host.isClosed) throw thrown;
  }
  await subject.host.ping();
}

const TOOL_MS = 500;
const MANY = 64;
const NOBODY = 'conformance-no-such-name';

function toolCall(tool: string, args: Fields): Fields {
  return { call_id: `call ${tool}`, tool, arguments: args, context: { token: 'conformance', tier: 'command' } };
}

function expect(condition: boolean, message: string): void {
  if (!condition) throw new Error(message);
}
