// Swift source as tree-sitter's grammar reads it: where it is broken, and what it declares.
import Parser from 'tree-sitter';
import Swift from 'tree-sitter-swift';

export interface SwiftFile {
  readonly faults: readonly { readonly line: number; readonly text: string }[];
  /** Name of a type at the top level → `struct`, `enum`, `protocol` or `typealias`. */
  readonly declared: ReadonlyMap<string, string>;
  /** Name of an enum → its cases. */
  readonly cases: ReadonlyMap<string, readonly string[]>;
}

export function parseSwift(source: string): SwiftFile {
  const parser = new Parser();
  parser.setLanguage(Swift as unknown as Parser.Language);
  // In pieces: the binding refuses a single string of this size.
  const { rootNode } = parser.parse((offset) => source.slice(offset, offset + 4_096));
  const faults: { line: number; text: string }[] = [];
  collectFaults(rootNode, faults);
  const declared = new Map<string, string>();
  const cases = new Map<string, string[]>();
  for (const node of rootNode.namedChildren) {
    const name = node.childForFieldName('name')?.text;
    if (name === undefined) continue;
    if (node.type === 'class_declaration') declared.set(name, node.childForFieldName('declaration_kind')?.text ?? '');
    if (node.type === 'protocol_declaration') declared.set(name, 'protocol');
    if (node.type === 'typealias_declaration') declared.set(name, 'typealias');
    if (declared.get(name) === 'enum') cases.set(name, casesOf(node));
  }
  return { faults, declared, cases };
}

function collectFaults(node: Parser.SyntaxNode, faults: { line: number; text: string }[]): void {
  if (node.type === 'ERROR' || node.isMissing) faults.push({ line: node.startPosition.row + 1, text: node.text.slice(0, 120) });
  else if (node.hasError) for (const child of node.children) collectFaults(child, faults);
}

function casesOf(node: Parser.SyntaxNode): string[] {
  const body = node.childForFieldName('body');
  return (body?.namedChildren ?? [])
    .filter((child) => child.type === 'enum_entry')
    .map((child) => child.childForFieldName('name')?.text ?? '');
}
