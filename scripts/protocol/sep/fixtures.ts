// What implementations in other languages are tested with, as data: values that are well, values that are not, and exchanges.
import { wire } from '@tenon/protocol/sep';
import { blocks, examples, exchanges, furtherRegistrations, invalidFixtures } from '@tenon/protocol/sep/conformance';
import { defName } from './schemas.ts';

export function createValid(): object {
  const values = wire.methodNames.flatMap((method) =>
    (['params', 'result'] as const).flatMap((part) =>
      (examples[method][part] ?? []).map((value) => ({ def: defName(method, part), value })),
    ),
  );
  return {
    about: 'Each value fits the definition of that name, in the schema that is written and in the one that is read.',
    values: [...values, { def: 'Registrations', value: furtherRegistrations }, ...blocks.map((value) => ({ def: 'RenderBlock', value }))],
  };
}

export function createInvalid(): object {
  return {
    about: 'No value fits the definition of that name as it is written. `read`: whether a reader takes it all the same.',
    values: invalidFixtures().map(({ method, part, why, value, read }) => ({ def: defName(method, part), why, value, read })),
  };
}

export function createExchanges(): object {
  return { about: 'How these are replayed stands in the specification, under "Scripted exchanges".', exchanges };
}

/** The tables themselves, for programs. */
export function createTables(): object {
  const { PROTOCOL_VERSION, errors, groups, methods, registrations, events, hooks, uiRequests, renderBlocks, deltaTypes, limits } = wire;
  return {
    about: 'The tables of the protocol. Generated from packages/protocol; do not edit.',
    protocol_version: PROTOCOL_VERSION,
    ...{ errors, groups, methods, registrations, events, hooks, ui_requests: uiRequests, render_blocks: renderBlocks },
    ...{ delta_types: deltaTypes, limits, restart_delays_ms: wire.restartDelaysMs, inherited_env: wire.inheritedEnv },
    ...{ modes: wire.modes, log_levels: wire.logLevels, field_aliases: wire.fieldAliases },
  };
}
