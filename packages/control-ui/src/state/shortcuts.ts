// Which key means what. Two keys at most; keys without Ctrl or Cmd can be switched off, and mean nothing while somebody types.

export type Shortcut =
  | 'palette'
  | 'help'
  | 'search'
  | 'compose'
  | 'new-session'
  | 'next'
  | 'previous'
  | 'go-chat'
  | 'go-overview'
  | 'go-sessions'
  | 'go-approvals'
  | 'go-plugins'
  | 'go-schedules'
  | 'go-inspector'
  | 'go-settings';

export interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly isComposing: boolean;
}

export interface KeyContext {
  /** Focus is where text goes. */
  readonly typing: boolean;
  readonly singleKeys: boolean;
  readonly now: number;
}

const SINGLE: Readonly<Record<string, Shortcut>> = { '?': 'help', '/': 'search', c: 'compose', n: 'new-session', j: 'next', k: 'previous' };
const AFTER_G: Readonly<Record<string, Shortcut>> = {
  c: 'go-chat',
  o: 'go-overview',
  s: 'go-sessions',
  a: 'go-approvals',
  p: 'go-plugins',
  t: 'go-schedules',
  i: 'go-inspector',
  ',': 'go-settings',
};

/** For the second key of two. */
const CHORD_MS = 1_500;

export function createShortcuts(): (press: KeyPress, context: KeyContext) => Shortcut | undefined {
  let chordUntil = 0;
  return ({ key, ctrlKey, metaKey, altKey, isComposing }, { typing, singleKeys, now }) => {
    if (isComposing) return undefined;
    if ((ctrlKey || metaKey) && !altKey && key.toLowerCase() === 'k') return 'palette';
    if (ctrlKey || metaKey || altKey || typing || !singleKeys) return undefined;
    const isChord = now < chordUntil;
    chordUntil = 0;
    if (isChord) return Object.hasOwn(AFTER_G, key) ? AFTER_G[key] : undefined;
    if (key === 'g') chordUntil = now + CHORD_MS;
    return Object.hasOwn(SINGLE, key) ? SINGLE[key] : undefined;
  };
}

interface HelpRow {
  readonly keys: readonly string[];
  readonly what: string;
  /** Works without being switched on. */
  readonly always?: boolean;
}

export const keyboardMap: readonly { readonly title: string; readonly rows: readonly HelpRow[] }[] = [
  {
    title: 'Everywhere',
    rows: [
      { keys: ['Ctrl K'], what: 'Search or run; Cmd K on a Mac', always: true },
      { keys: ['?'], what: 'This map' },
      { keys: ['/'], what: 'Search sessions' },
      { keys: ['c'], what: 'Go to the message box' },
      { keys: ['n'], what: 'New session' },
      { keys: ['j', 'k'], what: 'Next and previous in a list' },
      { keys: ['g', 'c'], what: 'Go to chat' },
      { keys: ['g', 'o'], what: 'Go to the overview' },
      { keys: ['g', 's'], what: 'Go to sessions' },
      { keys: ['g', 'a'], what: 'Go to approvals' },
      { keys: ['g', 'p'], what: 'Go to plugins' },
      { keys: ['g', 't'], what: 'Go to schedules' },
      { keys: ['g', 'i'], what: 'Go to the inspector' },
      { keys: ['g', ','], what: 'Go to settings' },
    ],
  },
  {
    title: 'In a chat',
    rows: [
      { keys: ['Enter'], what: 'Send, or queue while the agent works; on a touch screen, Ctrl Enter', always: true },
      { keys: ['Shift Enter'], what: 'New line', always: true },
      { keys: ['←', '→'], what: 'Next and previous action of a message', always: true },
      { keys: ['Esc', 'Esc'], what: 'Stop the turn', always: true },
      { keys: ['Alt ↑'], what: 'Take back your last message and change it', always: true },
    ],
  },
  {
    title: 'On an approval',
    rows: [
      { keys: ['a'], what: 'Allow once' },
      { keys: ['d'], what: 'Deny' },
    ],
  },
];
