import type { ConformanceStep } from '@tenon/extension-sdk/testing';
import { defineCommand } from '../command.ts';
import { exitCodes } from '../failure.ts';
import { duration, optional } from '../values.ts';
import { check, faultLines } from './ext-check.ts';

export const extConform = defineCommand({
  path: 'ext conform',
  summary: 'Run the extension in a folder and show, step by step, whether it keeps the protocol',
  examples: ['ext conform', 'ext conform ./notes', 'ext conform ./notes --step 30s --json'],
  args: { folder: optional('Where it is; without one, here') },
  options: { step: duration('How long each step may take; 10s without it') },
  async run(context) {
    const { args, options, out, io } = context;
    const { visible } = await import('@tenon/protocol');
    const checked = await check(args.folder ?? '.', context);
    const { manifest, folder, problems } = checked;
    if (!manifest) {
      out.show({ ok: false, problems, steps: [] }, () => faultLines(checked, out, visible));
      return exitCodes.failed;
    }
    // What only this gateway has against it says nothing of the protocol.
    if (!out.json) for (const line of faultLines({ ...checked, notes: [] }, out, visible)) out.talk(line);
    const [{ extensionCommand, extensionEnvironment }, { runConformance }] = await Promise.all([
      import('../../extension-folder.ts'),
      import('@tenon/extension-sdk/testing'),
    ]);
    const [command = '', ...words] = extensionCommand(manifest, process.execPath);
    const signal = io.interrupted();
    const report = await runConformance({
      command,
      args: words,
      cwd: folder,
      // Its folder stays as it is.
      env: { ...extensionEnvironment(manifest, io.env, () => true), PYTHONDONTWRITEBYTECODE: '1' },
      signal,
      ...(options.step === undefined ? {} : { timeoutMs: options.step }),
      onStep: (step) => out.json || out.line(visible(stepText(step)).replace(step.outcome, out.style(STYLES[step.outcome], step.outcome))),
    }).catch((error: unknown) => {
      if (signal.aborted) return undefined;
      throw error;
    });
    if (!report) return exitCodes.interrupted;
    if (out.json) out.show(report, () => []);
    else out.talk(`${report.passed} passed, ${report.failed} failed, ${report.skipped} had nothing to show`);
    return report.ok ? exitCodes.ok : exitCodes.failed;
  },
});

const STYLES = { passed: 'green', failed: 'red', skipped: 'dim' } as const;

function stepText({ name, outcome, reason, ms }: ConformanceStep): string {
  return `${outcome.padEnd(7)} ${name}${reason === undefined ? '' : `: ${reason}`}${outcome === 'skipped' ? '' : ` (${ms} ms)`}`;
}
