/** One cycle of each knot in a graph (Tarjan's strongly connected components), as a path that leads back to its start. */
export function findCycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  return knotsOf(graph).map((knot) => shortestCycle(graph, knot));
}

function knotsOf(graph: ReadonlyMap<string, readonly string[]>): Set<string>[] {
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const onStack = new Set<string>();
  const knots: Set<string>[] = [];
  const visit = (node: string): void => {
    order.set(node, order.size);
    low.set(node, order.get(node)!);
    stack.push(node);
    onStack.add(node);
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) visit(next);
      if (onStack.has(next)) low.set(node, Math.min(low.get(node)!, low.get(next)!));
    }
    if (low.get(node) !== order.get(node)) return;
    const knot = new Set<string>();
    let member: string;
    do {
      member = stack.pop()!;
      onStack.delete(member);
      knot.add(member);
    } while (member !== node);
    if (knot.size > 1 || graph.get(node)?.includes(node)) knots.push(knot);
  };
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return knots;
}

function shortestCycle(graph: ReadonlyMap<string, readonly string[]>, knot: ReadonlySet<string>): string[] {
  const start = [...knot].sort()[0]!;
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (const node of queue) {
    for (const next of graph.get(node) ?? []) {
      if (next === start) return pathTo(node, cameFrom);
      if (!knot.has(next) || cameFrom.has(next)) continue;
      cameFrom.set(next, node);
      queue.push(next);
    }
  }
  return [start];
}

function pathTo(end: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const path = [end];
  for (let node = cameFrom.get(end); node !== undefined; node = cameFrom.get(node)) path.unshift(node);
  return path;
}
