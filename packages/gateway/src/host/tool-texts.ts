// What an extension's tools say to the agent, as it is kept when somebody accepts it, and which of them say something else now.
// An extension that changes what its tools say after it was accepted must not be believed because of what it said before.
import { createHash } from 'node:crypto';
import type { ToolText, ToolTexts } from '../store/plugin-consents.ts';
import type { ContributionRegistry } from './contribution-registry.ts';
import { canonical } from '../kernel/canonical.ts';

const DESCRIPTION_CHARS = 4_096;
const PARAMETERS_CHARS = 8_192;

/** Of the tools that a plugin has registered. */
export function toolTextsOf(plugin: string, registry: Pick<ContributionRegistry, 'all'>): ToolTexts {
  const own = registry.all('tool').filter((each) => each.plugin === plugin);
  return Object.fromEntries(own.map(({ item }): [string, ToolText] => [item.name, textOf(item)]));
}

function textOf({ description, parameters, risk, idempotent = false, parallelSafe = false }: ToolFacts): ToolText {
  const said = canonical(parameters);
  return {
    digest: createHash('sha256')
      .update(canonical([description, parameters, risk, idempotent, parallelSafe]))
      .digest('base64url'),
    description: cut(description, DESCRIPTION_CHARS),
    parameters: cut(said, PARAMETERS_CHARS),
    risk,
  };
}

interface ToolFacts {
  readonly description: string;
  readonly parameters: object;
  readonly risk: string;
  readonly idempotent?: boolean;
  readonly parallelSafe?: boolean;
}

/** Those that were accepted with another text. One that is new has none, and one that is gone says nothing. */
export function differingTools(accepted: ToolTexts | undefined, now: ToolTexts): ToolTexts {
  if (!accepted) return {};
  return Object.fromEntries(
    Object.entries(now).filter(([name, { digest }]) => Object.hasOwn(accepted, name) && accepted[name]!.digest !== digest),
  );
}

function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars)}… (${text.length - chars} more characters)`;
}
