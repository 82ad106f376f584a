// `[resources]` of an extension: skills (a folder each, with a SKILL.md) are a tool that reads them, and prompts (a .md file each) are
// commands that tell the agent what they say. Read from the copy that was trusted; of what is not used, it is said why.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RegisterApi } from '@tenon/plugin-sdk';
import type { ExtensionManifest } from '@tenon/protocol/sep';
import { agentTool } from './bridge/tool-names.ts';

interface Text {
  readonly name: string;
  /** In a line, for whoever chooses. */
  readonly description: string;
  readonly text: string;
}

export interface Resources {
  readonly skills: readonly Text[];
  readonly prompts: readonly Text[];
  readonly leftOut: readonly { readonly kind: string; readonly key: string; readonly message: string }[];
}

const MAX_TEXTS = 64;
const MAX_TEXT_BYTES = 32_768;
const MAX_DESCRIPTION = 200;
const SKILL_FILE = 'SKILL.md';
const NAME = /^[a-z][a-z0-9_-]{0,31}$/;

/** What the operator is asked for because of them. */
export function grantsOfResources({ resources = {} }: Pick<ExtensionManifest, 'resources'>): string[] {
  return [
    ...(resources.skills === undefined ? [] : ['tools.register']),
    ...(resources.prompts === undefined ? [] : ['commands.register', 'prompt.inject', 'turns.start']),
  ];
}

/** Contract: does not throw for what it finds. `root`: the copy. */
export async function readResources({ resources = {} }: Pick<ExtensionManifest, 'resources'>, root: string): Promise<Resources> {
  const leftOut: { kind: string; key: string; message: string }[] = [];

  async function read(kind: 'skills' | 'prompts', fileOf: (entry: string) => readonly [name: string, file: string] | undefined) {
    const folder = resources[kind];
    const texts: Text[] = [];
    if (folder === undefined) return texts;
    const leave = (key: string, message: string) => leftOut.push({ kind: `resources.${kind}`, key, message });
    const entries = (await readdir(join(root, folder)).catch(() => [])).sort();
    for (const entry of entries) {
      const found = fileOf(entry);
      if (!found) continue;
      const [name, file] = found;
      const text = await readFile(join(root, folder, file), 'utf8').catch(() => undefined);
      if (text === undefined) leave(entry, `there is no ${file} that can be read`);
      else if (!NAME.test(name)) leave(entry, 'its name must be up to 32 lower-case letters, digits, - and _, the first a letter');
      else if (Buffer.byteLength(text) > MAX_TEXT_BYTES) leave(entry, `it has more than ${MAX_TEXT_BYTES} bytes`);
      else if (texts.length >= MAX_TEXTS) leave(entry, `there are ${MAX_TEXTS} of these already`);
      else texts.push({ name, description: describe(text) || name, text });
    }
    return texts;
  }

  const skills = await read('skills', (entry) => [entry, join(entry, SKILL_FILE)]);
  const prompts = await read('prompts', (entry) => (entry.endsWith('.md') ? [entry.slice(0, -'.md'.length), entry] : undefined));
  if (resources.themes !== undefined) leftOut.push({ kind: 'resources.themes', key: resources.themes, message: 'no front end uses them' });
  return { skills, prompts, leftOut };
}

export function registerResources(extension: string, api: RegisterApi, { skills, prompts }: Resources): void {
  if (skills.length > 0)
    api.registerTool({
      name: agentTool(extension, 'skill'),
      label: `${extension}.skill`,
      description: `Reads a skill of ${extension}, which says how something is done. Read it before you do it.\n${skills
        .map(({ name, description }) => `- ${name}: ${description}`)
        .join('\n')}`,
      parameters: {
        type: 'object',
        properties: { name: { type: 'string', enum: skills.map(({ name }) => name) } },
        required: ['name'],
        additionalProperties: false,
      },
      risk: 'read',
      execute: (args) => {
        const skill = skills.find(({ name }) => name === args.name);
        return skill ? { content: skill.text } : { content: `There is no skill ${String(args.name)}`, isError: true };
      },
    });
  for (const { name, description, text } of prompts)
    api.registerCommand({
      name,
      description,
      handler: ({ args }) => ({
        text: `The agent is told ${extension}/${name}`,
        inject: [{ text: args.trim() === '' ? text : `${text}\n\n${args.trim()}` }],
        continueAgent: true,
      }),
    });
}

/** `description:` of what stands between dashes at the top, else the first line that says something. */
function describe(text: string): string {
  const [, head = '', body = ''] = /^---\r?\n([\s\S]*?)\r?\n---\r?\n?([\s\S]*)$/.exec(text) ?? [undefined, '', text];
  const said = /^description:\s*["']?(.*?)["']?\s*$/m.exec(head)?.[1];
  const line = body.split('\n').find((each) => each.trim() !== '');
  return (said || (line ?? '').replace(/^#+\s*/, '')).trim().slice(0, MAX_DESCRIPTION);
}
