// What the operator says about programs. A pure function over the words that would run; the words come from the one parser.
import { isShellCommand, parseCommand } from './argv.ts';

export interface ExecPolicy {
  readonly policy: 'deny' | 'ask' | 'allow-list';
  /** Commands that may run without asking, such as `git status`; a last word `*` stands for any further words. */
  readonly allow: readonly string[];
  readonly sandboxed: boolean;
  readonly unsandboxed: 'ask' | 'policy';
}

export interface ExecVerdict {
  readonly verdict: 'allow' | 'ask' | 'deny';
  readonly reason: string;
}

export function execVerdict(argv: readonly string[], policy: ExecPolicy): ExecVerdict {
  if (policy.policy === 'deny') return { verdict: 'deny', reason: 'exec.policy is deny: no programs run' };
  if (!policy.sandboxed && policy.unsandboxed === 'ask')
    return { verdict: 'ask', reason: 'There is no sandbox, so every program asks first' };
  if (policy.policy === 'ask') return { verdict: 'ask', reason: 'exec.policy is ask: every program asks first' };
  const entry = policy.allow.find((each) => isCovered(argv, each));
  if (entry !== undefined) return { verdict: 'allow', reason: `exec.allow has "${entry}"`.slice(0, 512) };
  return { verdict: 'ask', reason: 'exec.allow does not have this command' };
}

function isCovered(argv: readonly string[], entry: string): boolean {
  const open = /[ \t]\*$/.test(entry);
  const line = parseCommand(open ? entry.slice(0, -2) : entry);
  // An entry that only a shell could read is matched by nothing: it would have to be compared as text, which hides too much.
  if (line.kind !== 'argv' || argv.length === 0) return false;
  // `sh *` is for scripts; a command line handed to a shell is allowed by exactly its own text only.
  if (open && isShellCommand(argv)) return false;
  const words = line.argv;
  if (open ? argv.length < words.length : argv.length !== words.length) return false;
  return words.every((word, index) => word === argv[index]);
}
