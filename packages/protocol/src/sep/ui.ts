// What people are asked and shown: `ui/request` by its kinds, and render blocks.
import { Type, type Static } from 'typebox';
import { AnyObject, closed, Context, Text } from './shapes.ts';
import { notifyLevels } from './wire.ts';

const fallback = { text: Type.Optional(Type.String({ description: 'what is shown where the kind is not known' })) };
const Block = Type.Ref('RenderBlock');

/** A tree of blocks, as data; whoever shows it decides how. */
export const RenderBlock = Type.Cyclic(
  {
    RenderBlock: Type.Union([
      Type.Object({ kind: Type.Literal('markdown'), text: Text }, closed),
      Type.Object(
        {
          kind: Type.Literal('keyvalue'),
          title: Type.Optional(Text),
          rows: Type.Array(Type.Object({ key: Text, value: Text }, closed)),
          ...fallback,
        },
        closed,
      ),
      Type.Object({ kind: Type.Literal('table'), columns: Type.Array(Text), rows: Type.Array(Type.Array(Text)), ...fallback }, closed),
      Type.Object({ kind: Type.Literal('diff'), patch: Text, ...fallback }, closed),
      Type.Object(
        { kind: Type.Literal('progress'), value: Type.Number({ minimum: 0, maximum: 1 }), label: Type.Optional(Text), ...fallback },
        closed,
      ),
      Type.Object({ kind: Type.Literal('stack'), children: Type.Array(Block), ...fallback }, closed),
      Type.Object(
        {
          kind: Type.Literal('widget'),
          widget_id: Text,
          body: Block,
          keybindings: Type.Array(Type.Object({ key: Text, description: Type.Optional(Text) }, closed)),
          ...fallback,
        },
        closed,
      ),
    ]),
  },
  'RenderBlock',
);
export type RenderBlock =
  | { kind: 'markdown'; text: string }
  | { kind: 'keyvalue'; title?: string; rows: { key: string; value: string }[]; text?: string }
  | { kind: 'table'; columns: string[]; rows: string[][]; text?: string }
  | { kind: 'diff'; patch: string; text?: string }
  | { kind: 'progress'; value: number; label?: string; text?: string }
  | { kind: 'stack'; children: RenderBlock[]; text?: string }
  | { kind: 'widget'; widget_id: string; body: RenderBlock; keybindings: { key: string; description?: string }[]; text?: string };

/**
 * Beyond SEP, and only where `capabilities_enabled` names a group beyond it: the dispatch that it is about, so that the people of its
 * session are asked.
 */
const about = { context: Type.Optional(Context) };

export const UiRequest = Type.Union([
  Type.Object({ ...about, kind: Type.Literal('select'), prompt: Text, options: Type.Array(Text) }, closed),
  Type.Object({ ...about, kind: Type.Literal('confirm'), prompt: Text }, closed),
  Type.Object({ ...about, kind: Type.Literal('input'), prompt: Text, default: Type.Optional(Text) }, closed),
  Type.Object(
    {
      ...about,
      kind: Type.Literal('notify'),
      message: Text,
      level: Type.Optional(Type.Enum([...notifyLevels], { description: 'info without one' })),
    },
    closed,
  ),
  Type.Object({ ...about, kind: Type.Literal('set_status'), status: Text }, closed),
  // Kinds of blocks that are not known here are shown by their `text`, so they are no error.
  Type.Object({ ...about, kind: Type.Literal('set_widget'), widget: AnyObject }, closed),
  Type.Object({ ...about, kind: Type.Literal('set_title'), title: Text }, closed),
]);
export type UiRequest = Static<typeof UiRequest>;

/** `value` of a select, `confirmed` of a confirm, `text` of an input; nothing of the others. */
export const UiAnswer = Type.Object(
  {
    value: Type.Optional(Text),
    confirmed: Type.Optional(Type.Boolean()),
    text: Type.Optional(Text),
    cancelled: Type.Optional(Type.Boolean({ description: 'nobody has answered' })),
  },
  closed,
);
export type UiAnswer = Static<typeof UiAnswer>;
