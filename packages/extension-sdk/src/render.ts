// Blocks that a front end draws in its own way. Each has a `text` for those that do not know its kind.

export interface MarkdownBlock {
  readonly kind: 'markdown';
  readonly text: string;
}
export interface KeyValueBlock {
  readonly kind: 'keyvalue';
  readonly title?: string;
  readonly rows: readonly { readonly key: string; readonly value: string }[];
  readonly text?: string;
}
export interface TableBlock {
  readonly kind: 'table';
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly text?: string;
}
export interface DiffBlock {
  readonly kind: 'diff';
  readonly patch: string;
  readonly text?: string;
}
export interface ProgressBlock {
  readonly kind: 'progress';
  /** 0 to 1. */
  readonly value: number;
  readonly label?: string;
  readonly text?: string;
}
export interface StackBlock {
  readonly kind: 'stack';
  readonly children: readonly RenderBlock[];
  readonly text?: string;
}
export interface WidgetBlock {
  readonly kind: 'widget';
  readonly widget_id: string;
  readonly body: RenderBlock;
  /** A press comes back as the event `widget/key`. */
  readonly keybindings: readonly { readonly key: string; readonly description?: string }[];
  readonly text?: string;
}
export type RenderBlock = MarkdownBlock | KeyValueBlock | TableBlock | DiffBlock | ProgressBlock | StackBlock | WidgetBlock;

type Cell = string | number | boolean;

export const render = {
  markdown: (text: string): MarkdownBlock => ({ kind: 'markdown', text }),

  keyvalue(
    rows: Readonly<Record<string, Cell>> | readonly { readonly key: string; readonly value: Cell }[],
    title?: string,
  ): KeyValueBlock {
    const pairs = Array.isArray(rows) ? rows : Object.entries(rows).map(([key, value]) => ({ key, value: value as Cell }));
    const texts = pairs.map(({ key, value }) => ({ key, value: String(value) }));
    const text = lines([...(title === undefined ? [] : [title]), ...texts.map(({ key, value }) => `${key}: ${value}`)]);
    return { kind: 'keyvalue', ...(title === undefined ? {} : { title }), rows: texts, text };
  },

  table(columns: readonly string[], rows: readonly (readonly Cell[])[]): TableBlock {
    const texts = rows.map((row) => row.map(String));
    return { kind: 'table', columns, rows: texts, text: lines([columns, ...texts].map((row) => row.join(' | '))) };
  },

  diff: (patch: string): DiffBlock => ({ kind: 'diff', patch, text: patch }),

  progress(value: number, label?: string): ProgressBlock {
    const within = Number.isFinite(value) ? Math.min(1, Math.max(0, value)) : 0;
    const text = `${label === undefined ? '' : `${label}: `}${Math.round(within * 100)}%`;
    return { kind: 'progress', value: within, ...(label === undefined ? {} : { label }), text };
  },

  stack: (...children: readonly RenderBlock[]): StackBlock => ({
    kind: 'stack',
    children,
    text: lines(children.map(({ text }) => text ?? '')),
  }),

  widget(widgetId: string, body: RenderBlock, keybindings: WidgetBlock['keybindings'] = []): WidgetBlock {
    return { kind: 'widget', widget_id: widgetId, body, keybindings, text: body.text ?? '' };
  },
} as const;

function lines(texts: readonly string[]): string {
  return texts.join('\n');
}
