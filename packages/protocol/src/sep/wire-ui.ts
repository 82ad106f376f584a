// What an extension can ask people and show them, and the pieces in which a model of it answers, as plain data.

export const modes = ['tui', 'web', 'widget', 'cli', 'headless'] as const;
export type SepMode = (typeof modes)[number];

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error'] as const;
export const notifyLevels = ['info', 'warn', 'error'] as const;

interface UiRow {
  readonly summary: string;
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /** The field of the answer. Without one nobody is waited for, and the answer is `{}`. */
  readonly answer?: string;
}

/** Kinds of `ui/request`, and what `ui_capabilities` lists. Any may be answered `{cancelled: true}`. */
export const uiRequests = {
  select: { summary: 'Choose one of several.', required: ['prompt', 'options'], optional: [], answer: 'value' },
  confirm: { summary: 'Yes or no.', required: ['prompt'], optional: [], answer: 'confirmed' },
  input: { summary: 'A line of text.', required: ['prompt'], optional: ['default'], answer: 'text' },
  notify: { summary: 'Say something.', required: ['message'], optional: ['level'] },
  set_status: { summary: 'The status line of the extension.', required: ['status'], optional: [] },
  set_widget: { summary: 'A block that stays.', required: ['widget'], optional: [] },
  set_title: { summary: 'The title of the window.', required: ['title'], optional: [] },
} as const satisfies Record<string, UiRow>;
export type UiKind = keyof typeof uiRequests;
export const uiKinds = Object.keys(uiRequests) as UiKind[];
export const interactiveUiKinds = uiKinds.filter((kind) => 'answer' in uiRequests[kind]);

export function isUiKind(kind: string): kind is UiKind {
  return Object.hasOwn(uiRequests, kind);
}

interface BlockRow {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /** Old spelling → field. A reader takes it, a writer never uses it. */
  readonly aliases: Readonly<Record<string, string>>;
}

/** Every kind has `text`: what is shown where the kind is not known. */
export const renderBlocks = {
  markdown: { required: ['text'], optional: [], aliases: { markdown: 'text' } },
  keyvalue: { required: ['rows'], optional: ['title', 'text'], aliases: {} },
  table: { required: ['columns', 'rows'], optional: ['text'], aliases: { headers: 'columns' } },
  diff: { required: ['patch'], optional: ['text'], aliases: { diff: 'patch' } },
  progress: { required: ['value'], optional: ['label', 'text'], aliases: {} },
  stack: { required: ['children'], optional: ['text'], aliases: { items: 'children' } },
  widget: { required: ['widget_id', 'body', 'keybindings'], optional: ['text'], aliases: {} },
} as const satisfies Record<string, BlockRow>;
export type RenderBlockKind = keyof typeof renderBlocks;
export const renderBlockKinds = Object.keys(renderBlocks) as RenderBlockKind[];

/** `type` of the event of a `provider/delta` → its other fields. The last three are the host's to make, from the final answer. */
export const deltaTypes = {
  Delta: ['content'],
  Reasoning: ['content'],
  ToolCallStart: ['index', 'id', 'name'],
  ToolCallArgumentsDelta: ['index', 'arguments_chunk'],
  Usage: [],
  Model: ['name'],
  Done: ['finish_reason'],
} as const satisfies Record<string, readonly string[]>;
