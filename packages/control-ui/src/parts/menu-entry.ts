import type { IconName } from '../icons.tsx';

/** One action of a menu. */
export interface MenuEntry {
  readonly id: string;
  readonly label: string;
  readonly icon: IconName;
  readonly danger?: boolean;
  readonly run: () => void;
}
