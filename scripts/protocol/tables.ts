// The protocol's tables as the generators take them: plain data, so that a test can hand in tables of its own.
// Nothing here names a method, an event or a code; shared types are whatever schemas the package exports.
import * as protocol from '@tenon/protocol';
import type { contributionRow, eventRow, grantRow, HookSpec, lateCallRow, MethodSpec, settingRow } from '@tenon/protocol';

/** As much of a TypeBox schema as the generators rely on: it is JSON Schema when written as JSON. */
export type Schema = object;

type GrantRow = NonNullable<ReturnType<typeof grantRow>>;

export interface ProtocolTables {
  readonly version: number;
  readonly types: Readonly<Record<string, Schema>>;
  readonly methods: Readonly<Record<string, MethodSpec>>;
  readonly events: Readonly<Record<string, ReturnType<typeof eventRow>>>;
  /** With the grants that a handler needs. */
  readonly hooks: Readonly<Record<string, HookSpec & { readonly needs: readonly string[] }>>;
  /** Fields that the event of nearly every hook may carry. */
  readonly hookContext: Readonly<Record<string, Schema>>;
  /** Hooks that other hosts have, and why they are not here. */
  readonly absentHooks: Readonly<Record<string, string>>;
  /** What plugins can register, and why something is not taken. */
  readonly contributions: Readonly<Record<string, ReturnType<typeof contributionRow>>>;
  readonly rejections: Readonly<Record<string, string>>;
  /** Where their code is called beside hooks. */
  readonly pluginPlaces: Readonly<Record<string, { summary: string; timeoutMs: number }>>;
  readonly grants: Readonly<Record<string, GrantRow>>;
  /** Calls that plugins can make while they are loaded. */
  readonly lateCalls: Readonly<Record<string, ReturnType<typeof lateCallRow>>>;
  /** Fields that take a right of their own. */
  readonly grantedFields: Readonly<Record<string, ReturnType<typeof lateCallRow>>>;
  readonly errors: Readonly<Record<string, { summary: string; status: number; retryable: boolean }>>;
  readonly scopes: Readonly<Record<string, { summary: string; implies: readonly string[] }>>;
  readonly limits: Readonly<Record<string, { value: number; unit: string; summary: string }>>;
  readonly settings: Readonly<Record<string, ReturnType<typeof settingRow>>>;
  readonly capabilities: Readonly<Record<string, string>>;
}

export function protocolTables(): ProtocolTables {
  const types: Record<string, Schema> = {};
  for (const [name, value] of Object.entries(protocol)) if (isSchema(value)) types[name] = value;
  return {
    version: protocol.PROTOCOL_VERSION,
    // Two enums that live inside other schemas and that clients want by name.
    types: { ...types, ErrorCode: protocol.ErrorShape.properties.code, Scope: protocol.ScopeList.items },
    methods: protocol.methods,
    events: protocol.events,
    hooks: Object.fromEntries(protocol.hookNames.map((name) => [name, { ...protocol.hookRow(name), needs: protocol.hookNeeds(name) }])),
    hookContext: protocol.hookContext,
    absentHooks: protocol.absentHooks,
    contributions: protocol.contributions,
    rejections: protocol.rejections,
    pluginPlaces: protocol.pluginPlaces,
    grants: protocol.grants,
    lateCalls: protocol.lateCalls,
    grantedFields: protocol.grantedFields,
    errors: protocol.errors,
    scopes: protocol.scopes,
    limits: protocol.limits,
    settings: protocol.settings,
    capabilities: protocol.capabilities,
  };
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && '~kind' in value;
}

/** `sessions.patch` becomes `SessionsPatch`: how a row is called where a type name is needed. */
export function typeName(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .filter((part) => part !== '')
    .map((part) => part[0]?.toUpperCase() + part.slice(1))
    .join('');
}

export const paramsName = (method: string) => `${typeName(method)}Params`;
export const resultName = (method: string) => `${typeName(method)}Result`;
export const eventName = (event: string) => `${typeName(event)}Event`;
export const contributionName = (kind: string) => `${typeName(kind)}Contribution`;
