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
  async run({ options, out, io, globals, config, hasGateway, call }) {
    const result = await examine();
    const { visible } = await import('@tenon/protocol');
    out.show(result, () => result.findings.flatMap((finding) => findingLines(finding, out, visible)));
    if (!out.json) out.talk(summary(result, options.fix));
    return result.ok ? exitCodes.ok : exitCodes.failed;

    /** A home that others could change is not used, so the first thing is to say that, or to mend it. */
    async function examine(): Promise<Result<'doctor.run'>> {
      const [{ resolveHome }, { findWeaknesses }] = await Promise.all([import('../../config.ts'), import('../../maintenance.ts')]);
      const findings = findWeaknesses(resolveHome(globals.home, io.env), options.fix);
      if (findings.some(({ fixed }) => !fixed)) return { ok: false, findings };
      const rest = await examineSafely();
      return { ok: rest.ok, findings: [...findings, ...rest.findings] };
    }

    async function examineSafely(): Promise<Result<'doctor.run'>> {
      if (await hasGateway()) return call('doctor.run', { fix: options.fix });
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
