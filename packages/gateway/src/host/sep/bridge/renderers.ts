// How entries of an extension are shown: the entry that has the tag of one of its templates, filled. Templates are data; nothing of
// them is run. What comes out stands with the entry, so that it is shown as it was when it was written.
import type { JsonObject, JsonValue } from '@tenon/protocol';
import { blockText, fillTemplate, readBlock, type Registrations } from '@tenon/protocol/sep';

export interface ShownEntry {
  readonly block: JsonValue;
  /** For who cannot show the block. */
  readonly text: string;
}

type Renderer = NonNullable<Registrations['message_renderers']>[number];

const MAX_SHOWN_BYTES = 65_536;

/** Undefined where none of the templates is for it, or what comes out is too large to be shown. */
export function shownBy(renderers: readonly Renderer[], entry: JsonObject): ShownEntry | undefined {
  const { tag, data } = entry;
  const template = renderers.find((each) => each.tag === tag)?.template;
  if (template === undefined) return undefined;
  const block = readBlock(fillTemplate(template, isFields(data) ? data : entry)) as JsonValue;
  const shown = { block, text: blockText(block) };
  return Buffer.byteLength(JSON.stringify(shown)) > MAX_SHOWN_BYTES ? undefined : shown;
}

function isFields(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
