// A conversation as the rows that are shown: pure, so that what a person sees can be tested without a browser. Entries
// come first, then what runs say right now, then messages that wait.
import type {
  Approval,
  AssistantMessage,
  Delivery,
  DeliveryEdited,
  DeliveryPressed,
  Entry,
  EntryOf,
  RunEnd,
  ToolCallBlock,
  ToolResultMessage,
  UserMessage,
} from '@tenon/protocol';
import type { ApprovalItem, AssistantItem, DeliveryItem, NoticeItem, ToolItem, TranscriptItem, UserItem } from '../chat/types.ts';
import type { Deciding } from './app-state.ts';
import type { ChatState, EndedRun, Outgoing } from './chat-state.ts';
import { blockWords, imagesOf, startOfDay, textOf, withBreaks } from './entry-content.ts';
import type { LiveRun, LiveTool, Segment } from './live-run.ts';
import { phaseWords, subjectOf, toolOutcome } from './tool-words.ts';

export interface ItemSources {
  readonly chat: ChatState;
  /** Those of this session. */
  readonly approvals: readonly Approval[];
  readonly deciding: ReadonlyMap<string, Deciding>;
  readonly agent: string;
  /** The plugin that offers a tool, by the name of the tool; the host offers the rest. */
  readonly owners?: ReadonlyMap<string, string>;
  /** The start of the day that a moment belongs to; days get a line between them. */
  readonly dayOf?: (at: number) => number;
}

export function transcriptItems(sources: ItemSources): TranscriptItem[] {
  const rows = new Rows(sources);
  for (const entry of sources.chat.entries) rows.entry(entry);
  const runs = [...sources.chat.runs.values()].sort((a, b) => a.createdAt - b.createdAt);
  const running = runs.filter((run) => run.state === 'running');
  const queued = runs.filter((run) => run.state === 'queued');
  const later = new Set(queued.map((run) => run.runId));
  const first = (each: Outgoing) => running.length === 0 || sources.chat.runs.get(each.runId)?.state === 'running';
  for (const each of sources.chat.outgoing) if (!later.has(each.runId) && first(each)) rows.outgoing(each);
  for (const run of running) rows.run(run);
  for (const each of sources.chat.outgoing) if (!later.has(each.runId) && !first(each)) rows.outgoing(each);
  for (const run of queued) rows.queued(run);
  return rows.finish();
}

const YOU = 'You';

class Rows {
  readonly #sources: ItemSources;
  readonly #items: TranscriptItem[] = [];
  readonly #keys = new Map<string, number>();
  /** Where the tool of a call stands, so that its result and its approval find it. */
  readonly #tools = new Map<string, number>();
  readonly #deliveries = new Map<string, number>();
  readonly #approvals: Map<string, Approval[]>;
  /** Approvals that stand with their calls. */
  readonly #placed = new Set<string>();
  readonly #ended: Map<string | undefined, EndedRun[]>;
  readonly #saidEnds = new Set<string>();
  #day: number | undefined;

  constructor(sources: ItemSources) {
    this.#sources = sources;
    this.#approvals = Map.groupBy(sources.approvals, (approval) => approval.callId ?? '');
    this.#ended = Map.groupBy(sources.chat.ended, (ended) => ended.after);
  }

  entry(entry: Entry): void {
    this.#dayLine(entry.at, entry.id);
    switch (entry.type) {
      case 'message':
        if (entry.message.role === 'user') this.#user(entry, entry.message);
        else if (entry.message.role === 'assistant') this.#assistant(entry, entry.message);
        else this.#result(entry, entry.message);
        break;
      case 'custom_message':
        if (entry.display) this.#custom(entry);
        break;
      case 'custom':
        this.#command(entry);
        break;
      case 'compaction':
        this.#notice(entry, { type: 'compaction', summary: entry.summary, tokensBefore: entry.tokensBefore });
        break;
      case 'branch_summary':
        this.#notice(entry, { type: 'branch', summary: entry.summary });
        break;
      case 'model_change':
        this.#notice(entry, { type: 'model', model: entry.modelId });
        break;
      case 'thinking_level_change':
        this.#notice(entry, { type: 'thinking', level: entry.thinkingLevel });
        break;
      case 'label':
        this.#notice(entry, { type: 'label', label: entry.label });
        break;
      case 'session_info':
        this.#notice(entry, { type: 'title', title: entry.name });
        break;
      case 'context_edit':
        this.#notice(entry, { type: 'edit', left: entry.replacement === null ? 'out' : 'replaced' });
        break;
    }
    for (const ended of this.#ended.get(entry.id) ?? []) this.#end(ended.runId, ended.end, ended.at);
  }

  run(run: LiveRun): void {
    const before = this.#items.length;
    run.segments.forEach((segment, index) => {
      this.#segment(
        segment,
        index === run.segments.length - 1 && ![...run.tools.values()].some((tool) => tool.startedAt > segment.startedAt),
      );
    });
    for (const tool of run.tools.values()) if (!this.#tools.has(tool.callId)) this.#liveTool(tool, run.runId);
    const words = run.phase && phaseWords(run.phase.name, run.phase.detail);
    if (words) {
      this.#push({ kind: 'notice', key: `phase:${run.runId}`, at: run.phase!.at, notice: { type: 'phase', text: words, busy: true } });
    } else if (this.#items.length === before && !this.#isAtWork()) {
      // Nothing to see yet: somebody who waits should know that it is under way.
      this.#push({
        kind: 'notice',
        key: `phase:${run.runId}`,
        at: run.createdAt,
        notice: { type: 'phase', text: `${this.#sources.agent} is thinking`, busy: true },
      });
    }
  }

  outgoing({ runId, text, images, files, at, state, error }: Outgoing): void {
    this.#dayLine(at, runId);
    const item: UserItem = {
      kind: 'user',
      key: `user:${runId}`,
      author: YOU,
      at,
      text,
      images,
      files,
      state: state === 'sent' ? 'sent' : state,
      error,
    };
    this.#push(item);
  }

  queued(run: LiveRun): void {
    const own = this.#sources.chat.outgoing.find((each) => each.runId === run.runId);
    const text = run.text ?? own?.text ?? '';
    const { from, via } = run;
    if (from !== undefined) return this.#push({ kind: 'custom', key: `user:${run.runId}`, at: run.createdAt, from, via, text });
    this.#push({
      kind: 'user',
      key: `user:${run.runId}`,
      author: YOU,
      at: run.createdAt,
      text,
      images: own?.images,
      files: own?.files,
      state: 'queued',
    });
  }

  finish(): TranscriptItem[] {
    // A run that ended before anything was written.
    for (const ended of this.#ended.get(undefined) ?? []) this.#end(ended.runId, ended.end, ended.at);
    // Questions whose call is not shown, because the page came later or the call is older than what was read.
    for (const approval of this.#sources.approvals)
      if (approval.state === 'pending' && !this.#placed.has(approval.id)) this.#push(this.#approvalItem(approval));
    return this.#items;
  }

  #user(entry: EntryOf<'message'>, { content, attachments, from, via }: UserMessage): void {
    const key = entry.runId === undefined ? entry.id : `user:${entry.runId}`;
    if (from !== undefined) return this.#push({ kind: 'custom', key, at: entry.at, from, via, text: textOf(content), entryId: entry.id });
    this.#push({
      kind: 'user',
      key,
      author: YOU,
      at: entry.at,
      text: textOf(content),
      images: imagesOf(entry.id, content),
      files: attachments,
      state: 'sent',
      entryId: entry.id,
    });
  }

  #assistant(entry: EntryOf<'message'>, message: AssistantMessage): void {
    let thinking = '';
    let shown = 0;
    const say = (text: string) => {
      const item: AssistantItem = {
        kind: 'assistant',
        key: shown++ === 0 ? (this.#sources.chat.rowKeys.get(entry.id) ?? entry.id) : `${entry.id}:${shown}`,
        agent: this.#sources.agent,
        at: entry.at,
        text,
        streaming: false,
        thinking: thinking || undefined,
        model: message.model,
        entryId: entry.id,
      };
      thinking = '';
      this.#push(item);
    };
    for (const block of message.content) {
      if (block.type === 'thinking') thinking += (thinking && '\n\n') + block.thinking;
      else if (block.type === 'text') {
        if (block.text.trim() !== '') say(block.text);
      } else {
        if (thinking !== '') say('');
        this.#call(entry, block);
      }
    }
    if (thinking !== '') say('');
    if (message.stopReason === 'aborted' && entry.runId !== undefined) this.#end(entry.runId, { kind: 'aborted' }, entry.at);
    if (message.stopReason === 'error') {
      const end: RunEnd = { kind: 'failed', ...(message.errorMessage === undefined ? {} : { reason: message.errorMessage }) };
      if (this.#isLastOf(entry))
        this.#end(entry.runId ?? entry.id, this.#sources.chat.ended.find((each) => each.runId === entry.runId)?.end ?? end, entry.at);
    }
  }

  #isLastOf(entry: Entry): boolean {
    const { entries, runs } = this.#sources.chat;
    if (entry.runId !== undefined && runs.has(entry.runId)) return false;
    return entries.findLast((each) => each.runId === entry.runId)?.id === entry.id;
  }

  #call(entry: EntryOf<'message'>, call: ToolCallBlock): void {
    const live = entry.runId === undefined ? undefined : this.#sources.chat.runs.get(entry.runId)?.tools.get(call.id);
    const isUnderWay = entry.runId !== undefined && this.#sources.chat.runs.has(entry.runId);
    this.#tool(
      {
        key: `tool:${call.id}`,
        callId: call.id,
        name: call.name,
        subject: live?.subject ?? subjectOf(call.arguments),
        args: call.arguments,
        malformed: call.malformed,
        state: live ? liveState(live) : isUnderWay ? 'running' : 'interrupted',
        output: live?.output,
        startedAt: live?.startedAt ?? entry.at,
        durationMs: live?.durationMs,
        at: entry.at,
      },
      entry.runId,
    );
  }

  #liveTool(tool: LiveTool, runId: string): void {
    this.#tool(
      {
        key: `tool:${tool.callId}`,
        callId: tool.callId,
        name: tool.name,
        subject: tool.subject ?? (tool.args && subjectOf(tool.args)),
        args: tool.args,
        state: liveState(tool),
        output: tool.output,
        startedAt: tool.startedAt,
        durationMs: tool.durationMs,
        at: tool.startedAt,
      },
      runId,
    );
  }

  /** Of the call in that run: some models count their calls from the beginning in each. */
  #approvalsOf(callId: string, runId: string | undefined): Approval[] {
    const isOfRun = (approval: Approval) => approval.runId === undefined || runId === undefined || approval.runId === runId;
    return (this.#approvals.get(callId) ?? []).filter(isOfRun);
  }

  #tool(tool: Omit<ToolItem, 'kind' | 'offeredBy'>, runId: string | undefined): void {
    const approvals = this.#approvalsOf(tool.callId, runId);
    const waits = approvals.some((approval) => approval.state === 'pending');
    this.#tools.set(tool.callId, this.#items.length);
    const offeredBy = this.#sources.owners?.get(tool.name) ?? 'host';
    this.#push({ kind: 'tool', offeredBy, agent: this.#sources.agent, ...tool, state: waits ? 'waiting' : tool.state });
    for (const approval of approvals) {
      this.#placed.add(approval.id);
      this.#push(this.#approvalItem(approval));
    }
  }

  #result({ runId }: EntryOf<'message'>, message: ToolResultMessage): void {
    const at = this.#tools.get(message.toolCallId);
    const call = at === undefined ? undefined : (this.#items[at] as ToolItem);
    const result = {
      ...toolOutcome(message),
      output: textOf(message.content),
      images: imagesOf(message.toolCallId, message.content),
      durationMs: message.durationMs,
      provenance: message.provenance,
    };
    // A refusal of the person is the tool's outcome, whatever the model was told.
    const settled = this.#approvalsOf(message.toolCallId, runId).at(-1)?.state;
    if (message.isError && (settled === 'denied' || settled === 'expired')) result.state = 'denied';
    const subject = message.details?.subject;
    if (call && at !== undefined)
      this.#items[at] = { ...call, ...result, ...(typeof subject === 'string' && subject !== '' ? { subject } : {}) };
    // Its call is on an older page.
    else
      this.#tool(
        {
          key: `tool:${message.toolCallId}`,
          callId: message.toolCallId,
          name: message.toolName,
          at: message.timestamp,
          ...result,
        },
        runId,
      );
  }

  #segment(segment: Segment, streaming: boolean): void {
    if (segment.text === '' && segment.thinking === '') return;
    this.#push({
      kind: 'assistant',
      key: segment.key,
      agent: this.#sources.agent,
      at: segment.startedAt,
      text: segment.text,
      streaming,
      thinking: segment.thinking || undefined,
      thinkingMs: segment.textAt === undefined || segment.thinking === '' ? undefined : segment.textAt - segment.startedAt,
    });
  }

  #custom(entry: EntryOf<'custom_message'>): void {
    const label = entry.details?.label;
    this.#push({
      kind: 'custom',
      key: entry.id,
      at: entry.at,
      from: typeof label === 'string' && label !== '' ? label : entry.customType,
      text: textOf(entry.content),
      images: imagesOf(entry.id, entry.content),
      entryId: entry.id,
    });
  }

  #command(entry: EntryOf<'custom'>): void {
    const { data } = entry;
    if (typeof data !== 'object' || data === null || Array.isArray(data)) return;
    const said = (value: unknown) => (typeof value === 'string' ? value : '');
    if (entry.customType === 'reply')
      this.#push({ kind: 'custom', key: entry.id, at: entry.at, from: said(data.plugin), text: said(data.text) });
    if (entry.customType === 'extension' && said(data.text) !== '')
      this.#push({ kind: 'custom', key: entry.id, at: entry.at, from: said(data.plugin), text: blockWords(data.block, said(data.text)) });
    if (entry.customType === 'delivery') this.#delivery(entry, data as unknown as Delivery);
    if (entry.customType === 'delivery_pressed') this.#pressed(entry, data as unknown as DeliveryPressed);
    if (entry.customType === 'delivery_edited') this.#edited(entry, data as unknown as DeliveryEdited);
    if (entry.customType === 'delivery_failed') {
      const text = `Not delivered over ${said(data.channel)}: ${said(data.reason)}`;
      this.#push({ kind: 'custom', key: entry.id, at: entry.at, from: 'Gateway', text });
    }
    if (entry.customType === 'command')
      this.#notice(entry, { type: 'command', command: said(data.text ?? data.command), reply: withBreaks(said(data.reply)) });
  }

  // The gateway wrote it; an import may have brought anything.
  #delivery(entry: Entry, delivery: Delivery): void {
    if (typeof delivery.by !== 'string' || !Array.isArray(delivery.attachments)) return;
    const sessionKey = this.#sources.chat.key;
    this.#deliveries.set(entry.id, this.#items.length);
    this.#push({ kind: 'delivery', key: entry.id, at: entry.at, sessionKey, entryId: entry.id, delivery });
  }

  /** What it says now takes the place of what it said; its files and its press stay. */
  #edited(entry: Entry, { entryId, by, text, presentation }: DeliveryEdited): void {
    const at = this.#deliveries.get(entryId);
    if (at === undefined) {
      const words = [presentation?.title, text].filter((each) => typeof each === 'string' && each !== '').join(': ');
      this.#push({
        kind: 'custom',
        key: entry.id,
        at: entry.at,
        from: String(by),
        text: `Changed: ${words}`,
      });
      return;
    }
    const item = this.#items[at] as DeliveryItem;
    const { text: _text, presentation: _presentation, ...kept } = item.delivery;
    const delivery = { ...kept, ...(text === undefined ? {} : { text }), ...(presentation === undefined ? {} : { presentation }) };
    this.#items[at] = { ...item, delivery };
  }

  #pressed(entry: Entry, pressed: DeliveryPressed): void {
    const at = this.#deliveries.get(pressed.entryId);
    if (at !== undefined) this.#items[at] = { ...(this.#items[at] as DeliveryItem), pressed };
    // What it belongs to is on an older page.
    else this.#push({ kind: 'custom', key: entry.id, at: entry.at, from: String(pressed.pluginId), text: `Pressed: ${pressed.label}` });
  }

  #notice(entry: Entry, notice: NoticeItem['notice']): void {
    this.#push({ kind: 'notice', key: entry.id, at: entry.at, notice });
  }

  #end(runId: string, end: RunEnd, at: number): void {
    if (this.#saidEnds.has(runId)) return;
    this.#saidEnds.add(runId);
    const retryable = end.kind === 'failed' || end.kind === 'internal_error';
    this.#push({ kind: 'notice', key: `end:${runId}`, at, notice: { type: 'end', end, retryable } });
  }

  #approvalItem(approval: Approval): ApprovalItem {
    const deciding = this.#sources.deciding.get(approval.id);
    return {
      kind: 'approval',
      key: `approval:${approval.id}`,
      approval,
      deciding: deciding && deciding.error === undefined ? deciding.decision : undefined,
      error: deciding?.error,
    };
  }

  #isAtWork(): boolean {
    return this.#items.some(
      (item) =>
        (item.kind === 'tool' && (item.state === 'running' || item.state === 'waiting')) ||
        (item.kind === 'approval' && item.approval.state === 'pending'),
    );
  }

  // Known by what follows it: when older messages of the same day arrive, it is another line above them.
  #dayLine(at: number, before: string): void {
    const day = (this.#sources.dayOf ?? startOfDay)(at);
    if (this.#day === day) return;
    this.#day = day;
    this.#push({ kind: 'day', key: `day:${before}`, at: day });
  }

  // Ids of imported entries and of calls are not ours: two rows with one key would break the list.
  #push(item: TranscriptItem): void {
    const seen = this.#keys.get(item.key) ?? 0;
    this.#keys.set(item.key, seen + 1);
    this.#items.push(seen === 0 ? item : { ...item, key: `${item.key}#${seen + 1}` });
  }
}

function liveState(tool: LiveTool): ToolItem['state'] {
  if (tool.phase === 'writing') return 'writing';
  if (tool.phase !== 'ended') return 'running';
  return tool.isError ? 'failed' : 'done';
}
