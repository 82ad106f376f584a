import type { Result } from '@tenon/protocol';
import { defineCommand } from '../command.ts';
import { exitCodes } from '../failure.ts';
import type { Output } from '../output.ts';
import { on } from '../values.ts';

export const doctor = defineCommand({
  path: 'doctor',
  summary: 'Check the installation. Exits with 1 if something is wrong',
  examples: ['doctor', 'doctor --fix', 'doctor --json'],
  options: { fix: on('Mend what can be mended safely') },
  async run({ options, out, config, hasGateway, call }) {
    const result = (await hasGateway()) ? await call('doctor.run', { fix: options.fix }) : await runOffline();
    const { visible } = await import('@tenon/protocol');
    out.show(result, () => result.findings.flatMap((finding) => findingLines(finding, out, visible)));
    if (!out.json) out.talk(summary(result, options.fix));
    return result.ok ? exitCodes.ok : exitCodes.failed;

    async function runOffline(): Promise<Result<'doctor.run'>> {
      const { runOfflineDoctor } = await import('../../maintenance.ts');
      return runOfflineDoctor({ config: await config(), fix: options.fix });
    }
  },
});

type Findings = Result<'doctor.run'>['findings'];

const COLOURS = { ok: 'green', info: 'dim', warning: 'yellow', error: 'red' } as const;

function findingLines(finding: Findings[number], out: Output, visible: (text: string) => string): string[] {
  const { severity, check, message, remedy, fixed } = finding;
  const head = `${out.style(COLOURS[severity], severity.padEnd(7))} ${visible(check)}: ${visible(message)}${fixed ? ' (fixed)' : ''}`;
  return remedy === undefined || fixed || severity === 'ok' ? [head] : [head, `        ${visible(remedy)}`];
}

function summary({ ok, findings }: Result<'doctor.run'>, fixing: boolean): string {
  const open = findings.filter(({ severity, fixed }) => (severity === 'warning' || severity === 'error') && !fixed);
  const mendable = open.some(({ fixable }) => fixable) && !fixing ? '; some can be mended with: tenon doctor --fix' : '';
  if (open.length === 0) return 'All is well';
  return `${open.length} ${open.length === 1 ? 'thing needs' : 'things need'} attention${ok ? ', none of them urgent' : ''}${mendable}`;
}
