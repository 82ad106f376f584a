// The protocol as the page has it: of the tables only what the client reads while it works, and checks that were made at
// build time in place of schemas. All of it is made from the tables, so that there is still one place to change.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Plugin } from 'esbuild';
import { firstMethods, laterMethods } from '../../packages/control-ui/src/state/page-methods.ts';
import { eventNames, eventRow, type MethodName, methodRow } from '../../packages/protocol/src/index.ts';
import { checksModule, laterChecksModule } from './checks.ts';

const protocol = join(import.meta.dirname, '..', '..', 'packages', 'protocol', 'src');

// What is left of schemas is names that nobody reads; `properties`, because some spread those of others.
const EMPTY_FORM = 'export const Type = new Proxy({}, { get: () => (properties) => ({ properties }) });';

// A call that only makes a schema or a list: a bundler cannot know that, and would keep what nobody uses.
const DECLARES = /(?<![\w.$])(?:Type\.\w+|Object\.(?:keys|values|entries|fromEntries))(?=\()/g;

/** Without summaries, parameters and what the page does not call. */
function methodsModule(): string {
  return tableModule('methods', 'method', rowsOf(firstMethods));
}

function rowsOf(names: readonly MethodName[]): string[] {
  return names.map((name) => {
    const { scope, repeat } = methodRow(name);
    return `${JSON.stringify(name)}: { scope: ${JSON.stringify(scope)}, repeat: ${JSON.stringify(repeat)}, result: {} }`;
  });
}

function eventsModule(): string {
  const rows = eventNames.map((name) => `${JSON.stringify(name)}: { durable: ${eventRow(name).durable}, payload: {} }`);
  return tableModule('events', 'event', rows);
}

function tableModule(table: string, noun: string, rows: readonly string[]): string {
  const Noun = noun[0]!.toUpperCase() + noun.slice(1);
  return [
    `export const ${table} = {${rows.join(',\n')}};`,
    `export const ${noun}Names = Object.keys(${table});`,
    `export const is${Noun}Name = (name) => Object.hasOwn(${table}, name);`,
    `export const ${noun}Row = (name) => ${table}[name];`,
  ].join('\n');
}

/** Files of the protocol, by name. */
const replaced: Readonly<Record<string, () => string>> = { methods: methodsModule, events: eventsModule, validate: checksModule };

export function protocolOfThePage(): Plugin {
  return {
    name: 'protocol of the page',
    setup(build) {
      build.onResolve({ filter: /^typebox$/ }, () => ({ path: 'typebox', namespace: 'empty-form', sideEffects: false }));
      build.onLoad({ filter: /.*/, namespace: 'empty-form' }, () => ({ contents: EMPTY_FORM, loader: 'js' }));
      for (const [file, contents] of Object.entries(replaced)) {
        build.onLoad({ filter: new RegExp(`[\\\\/]protocol[\\\\/]src[\\\\/]${file}\\.ts$`) }, () => ({
          contents: contents(),
          loader: 'js',
          resolveDir: protocol,
        }));
      }
      build.onLoad({ filter: /[\\/]state[\\/]later-checks\.ts$/ }, ({ path }) => ({
        contents: `${laterChecksModule(`{${rowsOf(laterMethods).join(',\n')}}`, protocol)}\nimport '../shell/app.tsx';`,
        loader: 'js',
        resolveDir: dirname(path),
      }));
      build.onLoad({ filter: /[\\/]protocol[\\/]src[\\/].*\.ts$/ }, ({ path }) => {
        const text = readFileSync(path, 'utf8');
        // Summaries are for people who read the reference.
        const short = /(limits|errors|scopes)\.ts$/.test(path)
          ? text.replace(/\b(?:summary|unit):\s*'(?:[^'\\]|\\.)*'(?!\s*\|),?/g, '')
          : text;
        return { contents: short.replace(DECLARES, '/* @__PURE__ */ $&'), loader: 'ts' };
      });
      // Its files only declare: what the page does not use of them is left out whole.
      build.onResolve({ filter: /^\.\.?\//, namespace: 'file' }, ({ path, resolveDir }) =>
        resolveDir.startsWith(protocol) ? { path: join(resolveDir, path), sideEffects: false } : undefined,
      );
    },
  };
}
