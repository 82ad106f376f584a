// Arguments of a call, whole: one per line, texts of many lines as such. `argv` is never joined, because where one word ends
// is what matters; its newlines are shown as characters.
import type { JsonObject } from '@tenon/protocol';
import { memo, type ReactNode } from 'react';
import { VisibleText } from './visible-text.tsx';

export const Argv = memo(function Argv({ argv }: { readonly argv: readonly string[] }): ReactNode {
  return (
    <ol className="argv" start={0}>
      {argv.map((word, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a word is known by its place
        <li key={index}>
          <span className="argv-index" aria-hidden="true">
            {index}
          </span>
          <span className="argv-word">{word === '' ? <span className="argv-empty">(empty)</span> : <VisibleText text={word} />}</span>
        </li>
      ))}
    </ol>
  );
});

export const Arguments = memo(function Arguments({ args }: { readonly args: JsonObject }): ReactNode {
  const names = Object.keys(args);
  if (names.length === 0) return <p className="arg-none">No arguments</p>;
  return (
    <dl className="args">
      {names.map((name) => (
        <div key={name} className="arg">
          <dt>
            <VisibleText text={name} />
          </dt>
          <dd>
            <ArgumentValue value={args[name]} />
          </dd>
        </div>
      ))}
    </dl>
  );
});

function ArgumentValue({ value }: { readonly value: unknown }): ReactNode {
  if (typeof value !== 'string') return <VisibleText text={JSON.stringify(value, undefined, 1) ?? 'nothing'} keep={'\n'} />;
  if (value === '') return <span className="argv-empty">(empty)</span>;
  return <VisibleText text={value} keep={'\n\t'} />;
}
