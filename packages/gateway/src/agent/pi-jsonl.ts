// Sessions as lines of JSON, version 3 of pi, in and out. An import is checked whole before anything is written: a line
// that is no entry, a parent that is not there or comes later, an id twice, or a result of a call that nobody made
// refuses all of it. State of plugins and approvals is never taken from a file.
import {
  Entry,
  explain,
  GatewayError,
  type ImageBlock,
  limits,
  matches,
  parseJson,
  type JsonObject,
  type JsonValue,
  type Session,
  type Usage,
} from '@tenon/protocol';
import { checkImages } from './images.ts';

export interface Imported {
  readonly entries: Entry[];
  readonly leafId: string | null;
  /** Lines of kinds that are not taken over. */
  readonly skipped: number;
}

/** The first line of an export. */
export function headerLine(session: Session): string {
  return JSON.stringify({
    type: 'session',
    version: 3,
    id: session.sessionId,
    timestamp: iso(session.createdAt),
    cwd: '',
    ...(session.forkedFrom === undefined ? {} : { parentSession: session.forkedFrom }),
  });
}

export function entryLine(entry: Entry): string {
  const { id, parentId, at, runId: _, type, ...rest } = entry;
  const common = { type, id, parentId, timestamp: iso(at) };
  if (entry.type === 'message' && entry.message.role === 'assistant') {
    const { usage, ...message } = entry.message;
    return JSON.stringify({ ...common, message: { ...message, api: message.provider, usage: piUsage(usage) } });
  }
  return JSON.stringify({ ...common, ...rest });
}

/** Contract: throws only GatewayError. */
export function importTranscript(text: string): Imported {
  const reading = readTranscript(text);
  for (;;) {
    const step = reading.next();
    if (step.done) return step.value;
  }
}

/** The same for a file that takes a while: others get their turn every few lines. */
export async function importLargeTranscript(text: string): Promise<Imported> {
  const reading = readTranscript(text);
  for (;;) {
    const step = reading.next();
    if (step.done) return step.value;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const LINES_AT_A_TIME = 200;

function* readTranscript(text: string): Generator<void, Imported> {
  if (text.length > limits.importBytes.value) refuse(0, `is longer than ${limits.importBytes.value} characters`);
  const entries: Entry[] = [];
  const known = new Set<string>();
  const moved = new Map<string, string | null>();
  const calls = new Set<string>();
  const followMoved = (id: string | null) => (id !== null && moved.has(id) ? moved.get(id)! : id);
  let skipped = 0;
  let lineNumber = 0;
  let sawHeader = false;
  for (const line of linesOf(text)) {
    lineNumber++;
    // The header and a line for each entry, those that are left out and empty ones included: the work is bounded before it is done.
    if (lineNumber > limits.importEntries.value + 1)
      refuse(lineNumber, `is one more than the ${limits.importEntries.value} entries of an import`);
    if (lineNumber % LINES_AT_A_TIME === 0) yield;
    if (line.trim() === '') continue;
    const parsed = parseJson(line, { depth: limits.jsonDepth.value, keys: limits.jsonKeys.value });
    if (!parsed.ok) refuse(lineNumber, `is not JSON that Tenon accepts: ${parsed.fault.reason}`);
    if (!isObject(parsed.value)) refuse(lineNumber, 'is not an object');
    if (!sawHeader) {
      checkHeader(parsed.value, lineNumber);
      sawHeader = true;
      continue;
    }
    const entry = toEntry(parsed.value, lineNumber);
    if (entry === undefined) {
      // What hangs on a line that is left out hangs on the one before it.
      const { id, parentId = null } = parsed.value;
      if (typeof id === 'string') {
        if (known.has(id) || moved.has(id)) refuse(lineNumber, `has the id ${JSON.stringify(id.slice(0, 128))} once more`);
        moved.set(id, typeof parentId === 'string' ? followMoved(parentId) : null);
      }
      skipped++;
      continue;
    }
    const parentId = followMoved(entry.parentId);
    if (known.has(entry.id) || moved.has(entry.id)) refuse(lineNumber, `has the id "${entry.id}" once more`);
    if (parentId !== null && !known.has(parentId)) refuse(lineNumber, `has the parent "${parentId}", which is not on a line before it`);
    checkImages(imagesOf(entry), (index) => `Line ${lineNumber}, image ${index + 1},`);
    checkReferences({ ...entry, parentId }, known, calls, lineNumber);
    known.add(entry.id);
    entries.push({ ...entry, parentId });
  }
  if (!sawHeader) refuse(1, 'is missing: a session file begins with its header');
  return { entries, leafId: entries.at(-1)?.id ?? null, skipped };
}

/** Not `split`: a file of a million lines would be a million strings at once. */
function* linesOf(text: string): Generator<string> {
  let start = 0;
  while (start < text.length) {
    const end = text.indexOf('\n', start);
    yield text.slice(start, end === -1 ? text.length : end);
    if (end === -1) return;
    start = end + 1;
  }
}

function checkHeader(header: JsonObject, line: number): void {
  if (header.type !== 'session') refuse(line, 'is not the header of a session: {"type":"session","version":3,…}');
  if (header.version !== 3) refuse(line, `has version ${JSON.stringify(header.version ?? null)}; only version 3 can be read`);
}

const taken: ReadonlySet<string> = new Set([
  'message',
  'compaction',
  'branch_summary',
  'model_change',
  'thinking_level_change',
  'custom_message',
  'label',
  'session_info',
  'context_edit',
]);

/** Undefined for a kind that is not taken over. */
function toEntry(line: JsonObject, number: number): Entry | undefined {
  const { type, id, parentId, timestamp, ...rest } = line;
  // What a plugin keeps in a session is its own, and a file cannot speak for it.
  if (type === 'custom' || typeof type !== 'string' || !taken.has(type)) return undefined;
  const at = toTime(timestamp, number);
  const body =
    type === 'message' ? { message: toMessage(rest.message, at, number) } : type === 'custom_message' ? toCustomMessage(rest) : rest;
  // Which run said something is known by the gateway that ran it.
  const { fromHook: _, runId: _run, ...fields } = body as JsonObject;
  const entry = {
    id,
    parentId: parentId ?? null,
    at,
    type,
    ...(type === 'model_change' || type === 'label' ? tidy(type, fields) : fields),
  };
  const schema = schemas.get(type)!;
  if (matches(schema, entry)) return entry as Entry;
  return refuse(number, `is not an entry: ${explain(schema, entry, 'entry') ?? 'it does not fit'}`);
}

/** By type, so that what is wrong is told of the kind that the line says it is. */
const schemas = new Map(Entry.anyOf.map((schema) => [schema.properties.type.const as string, schema]));

function tidy(type: string, fields: JsonObject): JsonObject {
  return type === 'label' ? { ...fields, label: fields.label ?? null } : fields;
}

function toCustomMessage(fields: JsonObject): JsonObject {
  return { ...fields, content: toContent(fields.content), display: fields.display !== false };
}

function toContent(content: JsonValue | undefined): JsonValue {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) return content ?? [];
  return content.map((block) => (isObject(block) && block.type === 'text' ? { type: 'text', text: block.text ?? '' } : block));
}

function toMessage(message: JsonValue | undefined, at: number, line: number): JsonObject {
  if (!isObject(message)) return refuse(line, 'has no message');
  const timestamp = typeof message.timestamp === 'number' ? message.timestamp : at;
  if (message.role === 'assistant') {
    const content = Array.isArray(message.content) ? message.content.map(toAssistantBlock) : toContent(message.content);
    return {
      role: 'assistant',
      content,
      provider: String(message.provider ?? 'unknown'),
      model: String(message.model ?? 'unknown'),
      usage: toUsage(message.usage) as unknown as JsonObject,
      stopReason: message.stopReason ?? 'stop',
      ...(typeof message.errorMessage === 'string' ? { errorMessage: message.errorMessage } : {}),
      timestamp,
    };
  }
  if (message.role === 'toolResult') {
    return {
      role: 'toolResult',
      toolCallId: message.toolCallId ?? '',
      toolName: message.toolName ?? '',
      content: toContent(message.content),
      isError: message.isError === true,
      // Nobody here saw the tool run: what a file says is foreign text.
      provenance: 'an imported session',
      ...(isObject(message.details) ? { details: message.details } : {}),
      timestamp,
    };
  }
  if (message.role === 'user') return { role: 'user', content: toContent(message.content), timestamp };
  return refuse(line, `has a message of the role ${JSON.stringify(message.role ?? null)}`);
}

function toAssistantBlock(block: JsonValue): JsonValue {
  if (!isObject(block)) return block;
  if (block.type === 'text') return { type: 'text', text: block.text ?? '' };
  if (block.type === 'toolCall') return { type: 'toolCall', id: block.id ?? '', name: block.name ?? '', arguments: block.arguments ?? {} };
  if (block.type !== 'thinking') return block;
  const signature = typeof block.thinkingSignature === 'string' ? { thinkingSignature: block.thinkingSignature } : {};
  return { type: 'thinking', thinking: block.thinking ?? '', ...signature };
}

function checkReferences(entry: Entry, known: ReadonlySet<string>, calls: Set<string>, line: number): void {
  const target =
    entry.type === 'label' || entry.type === 'context_edit'
      ? entry.targetId
      : entry.type === 'compaction'
        ? entry.firstKeptEntryId
        : undefined;
  if (target !== undefined && !known.has(target)) refuse(line, `speaks of the entry "${target}", which is not on a line before it`);
  if (entry.type !== 'message') return;
  const { message } = entry;
  if (message.role === 'assistant') for (const block of message.content) if (block.type === 'toolCall') calls.add(block.id);
  if (message.role === 'toolResult' && !calls.has(message.toolCallId))
    refuse(line, `is the result of a call "${message.toolCallId}" that nobody made`);
}

function imagesOf(entry: Entry): ImageBlock[] {
  const content =
    entry.type === 'message'
      ? entry.message.content
      : entry.type === 'custom_message'
        ? entry.content
        : entry.type === 'context_edit'
          ? (entry.replacement ?? [])
          : [];
  return content.filter((block) => block.type === 'image');
}

function toUsage(usage: JsonValue | undefined): Usage {
  const given = isObject(usage) ? usage : {};
  const count = (value: JsonValue | undefined) =>
    typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.round(value) : 0;
  const cost = isObject(given.cost) && typeof given.cost.total === 'number' && given.cost.total > 0 ? given.cost.total : 0;
  return {
    input: count(given.input),
    output: count(given.output),
    cacheRead: count(given.cacheRead),
    cacheWrite: count(given.cacheWrite),
    costUsd: cost,
  };
}

function piUsage({ input, output, cacheRead, cacheWrite, costUsd }: Usage): JsonObject {
  const totalTokens = input + output + cacheRead + cacheWrite;
  return { input, output, cacheRead, cacheWrite, totalTokens, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: costUsd } };
}

function toTime(timestamp: JsonValue | undefined, line: number): number {
  const at = typeof timestamp === 'string' ? Date.parse(timestamp) : timestamp;
  if (typeof at !== 'number' || !Number.isFinite(at) || at < 0) return refuse(line, `has the time ${JSON.stringify(timestamp ?? null)}`);
  return Math.round(at);
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refuse(line: number, what: string): never {
  throw new GatewayError('INVALID_REQUEST', `Line ${line} ${what}`, { details: { code: 'IMPORT', line } });
}
