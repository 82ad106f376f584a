import type { Result, TreeNode } from '@tenon/protocol';
import { relative } from '../amounts.ts';
import { defineCommand } from '../command.ts';
import { integer, on, required } from '../values.ts';
import { sessionKey } from './session-key.ts';

/** As much of an entry as the gateway gives for a list. */
const PREVIEW_CHARS = 120;

export const sessionTree = defineCommand({
  path: 'session tree',
  summary: 'List all entries of a session as a tree; * is the path to where it goes on',
  examples: ['session tree notes', 'session tree notes --all --json'],
  args: { key: required('Its key') },
  options: {
    after: integer('<n>', 'Go on where an earlier list ended', { min: 0, max: Number.MAX_SAFE_INTEGER }),
    limit: integer('<n>', 'How many at most', { min: 1, max: 200, short: 'n' }),
    all: on('Every page'),
  },
  async run({ args, options, out, io, call }) {
    const key = await sessionKey(args.key);
    const nodes: TreeNode[] = [];
    let { after } = options;
    let page: Result<'sessions.tree'>;
    do {
      page = await call('sessions.tree', { key, after, limit: options.limit }, { key: '<key>' });
      nodes.push(...page.nodes);
      after = page.next;
    } while (options.all && after !== undefined);
    const [{ visible }, { treeLines }] = await Promise.all([import('@tenon/protocol'), import('../chat/tree.ts')]);
    out.show({ nodes, leafId: page.leafId, ...(after === undefined ? {} : { next: after }) }, () =>
      treeLines(nodes, page.leafId).map(({ prefix, node, mark }) => {
        const label = node.label === undefined ? '' : ` [${visible(node.label)}]`;
        const what = node.role ?? node.type;
        return `${mark} ${prefix}${out.style('bold', node.id)} ${visible(what)}${label}: ${visible(node.preview)}${node.preview.length < PREVIEW_CHARS ? '' : '…'} ${out.style('dim', relative(node.at, io.now()))}`;
      }),
    );
    if (!out.json && after !== undefined) out.talk(`There are more: tenon session tree ${key} --after ${after}   (or --all)`);
  },
});
