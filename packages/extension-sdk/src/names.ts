// Names of the protocol that authors write, as types.
import type { SepEventName, SepHookName, SepMode, UiKind as SepUiKind } from '@tenon/protocol/sep/wire';

export type EventName = SepEventName;
export type HookName = SepHookName;
export type Mode = SepMode;
export type UiKind = SepUiKind;
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error';
