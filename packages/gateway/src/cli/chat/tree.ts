// A tree of entries as lines: a chain stays at one depth, and only where it parts do the branches go deeper.
import type { TreeNode } from '@tenon/protocol';

export interface TreeLine {
  readonly node: TreeNode;
  readonly prefix: string;
  /** `*` on the path to the leaf, `>` at the leaf. */
  readonly mark: string;
}

const MOST_DEPTH = 20;

export function treeLines(nodes: readonly TreeNode[], leafId: string | null): TreeLine[] {
  const known = new Set(nodes.map(({ id }) => id));
  const children = new Map<string | null, TreeNode[]>();
  for (const node of nodes) {
    // On a later page the parent is not among them.
    const parent = node.parentId !== null && known.has(node.parentId) ? node.parentId : null;
    children.set(parent, [...(children.get(parent) ?? []), node]);
  }
  const lines: TreeLine[] = [];
  // Not by recursion: a chain can be as long as the session.
  const open = (children.get(null) ?? []).map((node) => ({ node, depth: 0 })).toReversed();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, depth } = next;
    const mark = node.id === leafId ? '>' : node.current ? '*' : ' ';
    lines.push({ node, mark, prefix: depth === 0 ? '' : `${'  '.repeat(Math.min(depth, MOST_DEPTH) - 1)}└ ` });
    const below = children.get(node.id) ?? [];
    const depthBelow = below.length > 1 ? depth + 1 : depth;
    for (const child of below.toReversed()) open.push({ node: child, depth: depthBelow });
  }
  return lines;
}
