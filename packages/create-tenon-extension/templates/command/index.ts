import { defineCommand, defineExtension } from '@tenon/extension-sdk';

const ways = {
  plainly: (text: string) => text,
  loudly: (text: string) => text.toUpperCase(),
  backwards: (text: string) => [...text].reverse().join(''),
};

export const extension = defineExtension((tenon) => {
  tenon.name = '__NAME__';
  tenon.version = '0.1.0';
  tenon.registerCommand(
    defineCommand({
      name: 'echo',
      description: 'Say it again: /echo loudly hello',
      execute({ args }) {
        const [way = '', ...words] = String(args.args ?? '').split(' ');
        const isWay = Object.hasOwn(ways, way);
        const text = isWay ? words.join(' ') : [way, ...words].join(' ');
        return text === '' ? 'Say what? /echo loudly hello' : ways[isWay ? (way as keyof typeof ways) : 'plainly'](text);
      },
      complete: (partial) => Object.keys(ways).filter((way) => way.startsWith(partial)),
    }),
  );
});

if (import.meta.main) extension.serve();
