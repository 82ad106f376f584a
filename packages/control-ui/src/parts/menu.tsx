// The open menu of a menu button. In a file of its own, which is loaded when somebody reaches for a menu.
import type { ReactNode, RefObject } from 'react';
import { Menu, MenuItem, Popover } from 'react-aria-components';
import { Icon } from '../icons.tsx';
import type { MenuEntry } from './menu-entry.ts';

interface ActionMenuProps {
  readonly label: string;
  readonly entries: readonly MenuEntry[];
  readonly triggerRef: RefObject<HTMLButtonElement | null>;
  readonly onClose: () => void;
  readonly onChosen: (entry: MenuEntry) => void;
}

export function ActionMenu({ label, entries, triggerRef, onClose, onChosen }: ActionMenuProps): ReactNode {
  return (
    <Popover
      triggerRef={triggerRef}
      isOpen
      onOpenChange={(open) => !open && onClose()}
      placement="bottom end"
      className="menu-popover"
      aria-label={label}
    >
      <Menu
        aria-label={label}
        className="menu"
        autoFocus="first"
        onAction={(id) => {
          const entry = entries.find((each) => each.id === id);
          if (entry) onChosen(entry);
          onClose();
        }}
      >
        {entries.map((entry) => (
          <MenuItem key={entry.id} id={entry.id} className={`menu-item${entry.danger ? ' menu-item-danger' : ''}`} textValue={entry.label}>
            <Icon name={entry.icon} />
            {entry.label}
          </MenuItem>
        ))}
      </Menu>
    </Popover>
  );
}
