// The extension protocol with its schemas. `@tenon/protocol/sep/wire` has the same tables without them.
export * as wire from './wire.ts';
export { Failure, Frame, FrameError, Notification, readFrame, Request, Success, type ReadFrame } from './envelope.ts';
export {
  eventPayloads,
  furtherEventPayloads,
  furtherHookShapes,
  hookShapes,
  type FurtherEventPayload,
  type FurtherHookInput,
  type FurtherHookPatch,
} from './happenings.ts';
export {
  expandEnv,
  variablesOf,
  ExtensionManifest,
  hookTimeoutOf,
  manifestFaults,
  manifestInPackage,
  readManifest,
  type ReadManifest,
} from './manifest.ts';
export { methodShapes, shapesOf, type MethodShapes, type SepParams, type SepRequestName, type SepResult } from './methods.ts';
export { readParams, readResult, readSchema, writeFault, writeSchema, type Read, type ReadParams, type ReadResult } from './read.ts';
export {
  LaterRegistrations,
  readRegistrations,
  registrationItems,
  Registrations,
  type LeftOut,
  type SepRegistration,
} from './registrations.ts';
export { blockText, fillTemplate, readBlock } from './render.ts';
export { Context, Id } from './shapes.ts';
export { parseSlash, type SlashCommand } from './slash.ts';
export { fromSnake, snake, toSnake, type Snake } from './snake.ts';
export { RenderBlock, UiAnswer, UiRequest } from './ui.ts';
