// A button that opens a menu of actions.
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { IconButton } from './button.tsx';
import type { MenuEntry } from './menu-entry.ts';

const loadMenu = () => import('./menu.tsx');
const ActionMenu = lazy(() => loadMenu().then((module) => ({ default: module.ActionMenu })));

interface MenuButtonProps {
  readonly label: string;
  readonly entries: readonly MenuEntry[];
  readonly className?: string;
}

export function MenuButton({ label, entries, className = '' }: MenuButtonProps): ReactNode {
  const [open, setOpen] = useState(false);
  const ref = useRef<HTMLButtonElement>(null);
  const chosen = useRef<(() => void) | undefined>(undefined);
  // Once the menu is gone: what opens then, such as a dialog, gives the focus back to this button and not to an item that is no more.
  useEffect(() => {
    const run = chosen.current;
    chosen.current = undefined;
    if (open || !run) return;
    ref.current?.focus({ preventScroll: true });
    run();
  }, [open]);
  const preload = () => void loadMenu();
  return (
    <>
      <IconButton
        ref={ref}
        icon="more"
        label={label}
        className={className}
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown') return;
          event.preventDefault();
          setOpen(true);
        }}
        onPointerEnter={preload}
        onFocus={preload}
      />
      {open && (
        <Suspense fallback={null}>
          <ActionMenu
            label={label}
            entries={entries}
            triggerRef={ref}
            onClose={() => setOpen(false)}
            onChosen={(entry) => {
              chosen.current = entry.run;
            }}
          />
        </Suspense>
      )}
    </>
  );
}
