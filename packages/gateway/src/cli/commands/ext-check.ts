import type { CheckedFolder, FolderFault } from '../../extension-folder.ts';
import { defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { exitCodes } from '../failure.ts';
import type { Output } from '../output.ts';
import { optional } from '../values.ts';

export const extCheck = defineCommand({
  path: 'ext check',
  summary: 'Look whether the gateway could use the extension in a folder, without running any of it',
  examples: ['ext check', 'ext check ./notes', 'ext check ./notes --json'],
  args: { folder: optional('Where it is; without one, here') },
  async run(context) {
    const { args, out } = context;
    const checked = await check(args.folder ?? '.', context);
    const { grantRow, visible } = await import('@tenon/protocol');
    const { manifest, problems, notes, asked, folder, treeHash } = checked;
    const shown = { ok: problems.length === 0, folder, name: manifest?.name, version: manifest?.version, problems, notes, asked, treeHash };
    out.show(shown, () => [
      ...faultLines(checked, out, visible),
      ...(problems.length > 0 || !manifest
        ? []
        : [
            `${out.style('green', 'fit')}  ${visible(`${manifest.name} ${manifest.version}`)} in ${visible(folder)}`,
            ...asked.map((grant) => `     asks for ${visible(grant)}: ${grantRow(grant)?.summary ?? 'not known here'}`),
          ]),
    ]);
    if (problems.length > 0) return exitCodes.failed;
    if (!out.json) out.talk(`Whether it keeps the protocol: tenon ext conform ${visible(args.folder ?? '.')}`);
    return exitCodes.ok;
  },
});

/** The folder as the gateway would find it. */
export async function check(folder: string, { io }: Pick<CommandContext, 'io'>): Promise<CheckedFolder> {
  const { checkFolder } = await import('../../extension-folder.ts');
  return checkFolder(folder, { uid: process.getuid?.(), env: io.env });
}

export function faultLines({ problems, notes }: CheckedFolder, out: Output, visible: (text: string) => string): string[] {
  const line = (mark: string, { path, key, message, hint }: FolderFault) =>
    `${mark} ${visible(`${path}: ${key === undefined ? '' : `${key} `}${message}${hint === undefined ? '' : `; ${hint}`}`)}`;
  return [
    ...problems.map((fault) => line(out.style('red', 'wrong'), fault)),
    ...notes.map((fault) => line(out.style('yellow', 'note '), fault)),
  ];
}
