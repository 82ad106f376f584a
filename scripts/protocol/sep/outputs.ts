// Everything in spec/sep that is made: path from the root of the repository → text.
import { createExchanges, createInvalid, createTables, createValid } from './fixtures.ts';
import { createSepDocument } from './schemas.ts';
import { renderSpecification } from './specification.ts';

export function renderSep(): ReadonlyMap<string, string> {
  return new Map([
    ['spec/sep/README.md', renderSpecification()],
    ['spec/sep/schemas/write.schema.json', json(createSepDocument('write'))],
    ['spec/sep/schemas/read.schema.json', json(createSepDocument('read'))],
    ['spec/sep/tables.json', json(createTables())],
    ['spec/sep/fixtures/valid.json', json(createValid())],
    ['spec/sep/fixtures/invalid.json', json(createInvalid())],
    ['spec/sep/fixtures/exchanges.json', json(createExchanges())],
  ]);
}

function json(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
