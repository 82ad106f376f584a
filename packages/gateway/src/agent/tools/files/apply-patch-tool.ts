// `apply_patch`: several files at once, all or nothing. What each file will hold is worked out before the first is touched;
// if a write fails in the middle, those before it are put back.
import { Type } from 'typebox';
import { sha256 } from '../../../kernel/ids.ts';
import { pathFacts } from '../facts.ts';
import { closed, defineTool, said } from '../define.ts';
import { type Tool, ToolError, type ToolPlace } from '../tool.ts';
import { type FileDeps, locateFile, locateIn } from './file-deps.ts';
import { applyChunks, parsePatch } from './patch.ts';
import { MAX_TEXT_BYTES, textOf } from './text.ts';
import { type Boundary, readWhole, removeFile, type Spot, writeWhole } from './workspace.ts';

interface Step {
  readonly spot: Spot;
  readonly boundary: Boundary;
  readonly verb: 'added' | 'changed' | 'deleted' | 'moved from';
  /** Undefined: the file is not there. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

const EXAMPLE = '*** Begin Patch\n*** Update File: src/a.ts\n@@ function f() {\n context\n-old\n+new\n*** End Patch';

export function applyPatchTool(deps: FileDeps): Tool {
  return defineTool({
    name: 'apply_patch',
    label: 'Apply a patch',
    description:
      'Add, update, move or delete several files at once; all or nothing. Sections: "*** Add File: path" (lines with +), "*** Update File: path" ' +
      `(optionally "*** Move to: path"; then @@, and lines with space, - or +), "*** Delete File: path". Example:\n${EXAMPLE}`,
    parameters: Type.Object({ patch: Type.String({ minLength: 1, maxLength: 5_000_000, description: 'The whole patch' }) }, closed),
    risk: 'write',
    tags: ['files'],
    idempotent: false,
    parallelSafe: false,
    facts: async ({ patch }, { workspace }) => ({ derivedPaths: await pathFacts(namedIn(patch), workspace) }),
    async prepare({ patch }, place) {
      const steps = await stepsOf(patch, place, deps);
      const names = steps.map(({ spot }) => spot.shown);
      const subject = names.length === 1 ? names[0]! : `${names.length} files: ${names.join(', ')}`;
      return {
        subject: subject.slice(0, 200),
        question: `Change ${subject}?`.slice(0, 400),
        risk: 'write',
        exact: {
          patch,
          files: steps.map(({ spot, verb, before }) => ({ path: spot.real, verb, before: before === undefined ? null : sha256(before) })),
        },
        async run({ signal }) {
          for (const step of steps) await checkUnchanged(step);
          signal.throwIfAborted();
          await carryOut(steps, deps);
          return said(steps.map(({ spot, verb }) => `${verb}: ${spot.shown}`).join('\n'), { details: { files: names } });
        },
      };
    },
  });
}

function namedIn(patch: string): string[] {
  return parsePatch(patch).flatMap((change) =>
    change.kind === 'update' && change.moveTo !== undefined ? [change.path, change.moveTo] : [change.path],
  );
}

async function stepsOf(patch: string, place: ToolPlace, deps: FileDeps): Promise<Step[]> {
  const steps: Step[] = [];
  const add = (step: Step) => {
    if (steps.some(({ spot }) => spot.real === step.spot.real))
      throw new ToolError('BAD_PATCH', `${step.spot.shown} is changed twice in the patch`);
    steps.push(step);
  };
  for (const change of parsePatch(patch)) {
    if (change.kind === 'add') {
      const { spot, boundary } = await newSpot(place, change.path, deps);
      add({ spot, boundary, verb: 'added', before: undefined, after: change.content });
      continue;
    }
    const { spot, boundary } = await locateFile(place, change.path, deps);
    const before = textOf(await readWhole(spot, MAX_TEXT_BYTES), spot.shown);
    if (change.kind === 'delete') {
      add({ spot, boundary, verb: 'deleted', before, after: undefined });
      continue;
    }
    const after = applyChunks(before, change.chunks, spot.shown);
    if (change.moveTo === undefined) {
      add({ spot, boundary, verb: 'changed', before, after });
    } else {
      const target = await newSpot(place, change.moveTo, deps);
      add({ ...target, verb: 'added', before: undefined, after });
      add({ spot, boundary, verb: 'moved from', before, after: undefined });
    }
  }
  return steps;
}

async function newSpot(place: ToolPlace, path: string, deps: FileDeps): Promise<{ spot: Spot; boundary: Boundary }> {
  const located = await locateIn(place, path, deps);
  if (located.spot.kind !== 'nothing') throw new ToolError('EXISTS', `${located.spot.shown} is there already; update it instead`);
  return located;
}

async function contentOf(spot: Spot): Promise<string | undefined> {
  try {
    return textOf(await readWhole(spot, MAX_TEXT_BYTES), spot.shown);
  } catch (error) {
    // Its folder may be missing too, which is said as a change.
    if (error instanceof ToolError && ['NOT_FOUND', 'CHANGED'].includes(error.code)) return undefined;
    throw error;
  }
}

async function checkUnchanged({ spot, before }: Step): Promise<void> {
  if ((await contentOf(spot)) !== before)
    throw new ToolError('CHANGED', `${spot.shown} was changed by somebody else meanwhile; read it again`);
}

async function carryOut(steps: readonly Step[], deps: FileDeps): Promise<void> {
  const done: Step[] = [];
  try {
    for (const step of steps) {
      await put(step.spot, step.after, step.boundary, deps);
      done.push(step);
    }
  } catch (error) {
    const stuck: string[] = [];
    for (const step of done.reverse()) {
      await put(step.spot, step.before, step.boundary, deps).catch(() => stuck.push(step.spot.shown));
    }
    const failure = error as ToolError;
    if (stuck.length === 0) throw new ToolError(failure.code, `${failure.message}. Nothing was changed`);
    throw new ToolError(failure.code, `${failure.message}. These could not be put back as they were: ${stuck.join(', ')}`);
  }
}

async function put(spot: Spot, content: string | undefined, boundary: Boundary, deps: FileDeps): Promise<void> {
  if (content === undefined) await removeFile(spot, boundary);
  else await writeWhole(spot, content, deps.newId(), boundary);
}
