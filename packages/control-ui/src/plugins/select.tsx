// A native select with its sign, which works with every keyboard, screen reader and phone.
import type { ReactNode } from 'react';
import { Icon, type IconName } from '../icons.tsx';

interface SelectProps {
  readonly label: string;
  readonly icon: IconName;
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly words: string }[];
  readonly onPick: (value: string) => void;
}

export function Select({ label, icon, value, options, onPick }: SelectProps): ReactNode {
  return (
    <span className="select">
      <Icon name={icon} size={14} />
      <select aria-label={label} title={label} value={value} onChange={(event) => onPick(event.target.value)}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.words}
          </option>
        ))}
      </select>
      <Icon name="chevrons-up-down" size={14} />
    </span>
  );
}
