// The commands that fit what was typed after `/`. The text keeps the focus; the list only follows its keys.
import { type CommandInfo, visible } from '@tenon/protocol';
import { type ReactNode, useEffect, useRef } from 'react';

/** The commands to offer for a text, or none where it is not the beginning of one. */
export function matchingCommands(value: string, commands: readonly CommandInfo[]): readonly CommandInfo[] {
  const typed = /^\/([a-z0-9_-]*)$/i.exec(value)?.[1]?.toLowerCase();
  if (typed === undefined) return [];
  const begins = commands.filter((command) => command.name.startsWith(typed));
  return [...begins, ...commands.filter((command) => !begins.includes(command) && command.name.includes(typed))];
}

/** What stands in the composer once the command is chosen. */
export function completed(command: CommandInfo): string {
  return takesMore(command) ? `/${command.name} ` : `/${command.name}`;
}

function takesMore(command: CommandInfo): boolean {
  return command.usage.trim() !== `/${command.name}`;
}

interface CommandListProps {
  readonly id: string;
  readonly commands: readonly CommandInfo[];
  readonly active: number;
  readonly onChoose: (command: CommandInfo) => void;
}

export function CommandList({ id, commands, active, onChoose }: CommandListProps): ReactNode {
  const activeRef = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the ref points to another row when `active` changes
  useEffect(() => {
    // Not returned: newer browsers answer with a promise.
    activeRef.current?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  return (
    <div className="commands" id={id} role="listbox" aria-label="Commands">
      {commands.map((command, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the text
        // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the text, as aria-activedescendant says
        <div
          key={command.name}
          ref={index === active ? activeRef : undefined}
          id={`${id}-${index}`}
          className="command"
          role="option"
          aria-selected={index === active}
          // The text must not lose the focus to a click.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onChoose(command)}
        >
          <code>{visible(command.usage)}</code>
          <span>{visible(command.summary)}</span>
          {command.source === 'plugin' && <span className="tag">plugin</span>}
        </div>
      ))}
    </div>
  );
}
