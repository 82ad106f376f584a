// What clients that draw the controls of plugins need beside the tables; on its own, so that the others do not load it.
export { shownBlocks, shownParts, type ShownBlock, type ShownItem, type Tone } from './ui-blocks.ts';
export { widgetBlocks } from './sep/widget-blocks.ts';
export { fillForm, formOf, pressOf, readAnswer, type Form, type FormField, type Press } from './ui-form.ts';
