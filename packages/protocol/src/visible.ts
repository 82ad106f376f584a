// Text from outside, made safe to look at: what would move, hide or reorder other text is shown as its code point.

// Controls (newline and tab too: one value stays on one line), format characters such as bidi overrides, separators of
// lines, lone surrogates, and whatever a renderer leaves out. U+FE0F only turns a sign into its picture and stays.
const HIDDEN = /(?!\ufe0f)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

/** `a\u202eb` becomes `a\u{202e}b`, literally. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
