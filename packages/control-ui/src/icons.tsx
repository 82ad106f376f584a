// The icons: an own set on a grid of 16 with a stroke of 1.5, in the colour of the text. Each has one meaning everywhere.
// They say nothing to a screen reader: the words beside them do.
import type { ReactNode } from 'react';

const SHIELD = 'M8 1.9 13 3.7v4c0 3-2 5.2-5 6.4-3-1.2-5-3.4-5-6.4v-4L8 1.9Z';
const RING = 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12Z';
const PAGE = 'M9.2 1.8H4.7a1 1 0 0 0-1 1v10.4a1 1 0 0 0 1 1h6.6a1 1 0 0 0 1-1V4.9L9.2 1.8Z';
const CALENDAR = 'M3.5 3.2h9a1 1 0 0 1 1 1v8.3a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1V4.2a1 1 0 0 1 1-1ZM2.5 6.3h11M5.3 1.8v2.6M10.7 1.8v2.6';

/** Each icon as one or more paths. */
const paths = {
  /** Approval. */
  shield: [SHIELD],
  /** Sandboxed, or allowed. */
  'shield-check': [SHIELD, 'm5.8 7.9 1.6 1.6 2.9-3'],
  /** Not sandboxed. */
  'shield-off': ['M4.9 3 8 1.9 13 3.7v4c0 .9-.2 1.7-.5 2.4M11 12c-.8.9-1.8 1.6-3 2.1-3-1.2-5-3.4-5-6.4v-4l.4-.1', 'm2 2 12 12'],
  /** Extension or plugin. */
  joint: ['M2.8 2.8h10.4v3.4h-3v3.6h3v3.4H2.8V2.8Z', 'M10.2 6.2h3v3.6h-3'],
  running: [RING, 'M8 9.3a1.3 1.3 0 1 0 0-2.6 1.3 1.3 0 0 0 0 2.6Z'],
  /** Quarantined or blocked. */
  blocked: [RING, 'm3.9 3.9 8.2 8.2'],
  /** Changed since trust. */
  'page-plus': [PAGE, 'M8 6.8v4M6 8.8h4'],
  page: [PAGE, 'M9 2v3.2h3.2'],
  missed: [CALENDAR, 'm6.3 8.4 3.4 3.4M9.7 8.4l-3.4 3.4'],
  /** It expires. */
  hourglass: [
    'M4 2h8M4 14h8',
    'M4.8 2v2.2c0 1 .5 1.7 1.3 2.3L8 8l1.9-1.5c.8-.6 1.3-1.3 1.3-2.3V2M4.8 14v-2.2c0-1 .5-1.7 1.3-2.3L8 8l1.9 1.5c.8.6 1.3 1.3 1.3 2.3V14',
  ],
  /** Closed. */
  lock: ['M4 7.2h8a.8.8 0 0 1 .8.8v5a.8.8 0 0 1-.8.8H4a.8.8 0 0 1-.8-.8V8a.8.8 0 0 1 .8-.8Z', 'M5.4 7.2V4.9a2.6 2.6 0 0 1 5.2 0v2.3'],

  chat: ['M3.4 2.8h9.2a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1H7.5l-3 2.6v-2.6H3.4a1 1 0 0 1-1-1v-6a1 1 0 0 1 1-1Z'],
  overview: ['M2.3 10.6a5.7 5.7 0 0 1 11.4 0', 'M2.3 13.3h11.4', 'm8 10.4 2.6-3'],
  sessions: ['M5.7 3.8h8M5.7 8h8M5.7 12.2h8', 'M2.5 3.8h.01M2.5 8h.01M2.5 12.2h.01'],
  settings: [
    'M2.2 5h5.4M11.6 5h2.2M2.2 11h2.2M8.4 11h5.4',
    'M9.6 6.8a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6ZM6.4 12.8a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6Z',
  ],
  /** What plugins did, over time. */
  inspector: ['M2.6 2.4v11.2h10.8', 'M5.4 4.8h4M7.2 7.8h4.6M9.8 10.8h2.4'],
  menu: ['M2.5 4h11M2.5 8h11M2.5 12h11'],
  search: ['M7 11.6A4.6 4.6 0 1 0 7 2.4a4.6 4.6 0 0 0 0 9.2Z', 'm10.4 10.4 3.2 3.2'],
  clock: [RING, 'M8 4.9V8l2.1 1.5'],
  history: ['M2.3 8A5.7 5.7 0 1 0 4 4', 'M2.5 2v2.7h2.7', 'M8 5v3.2l2 1.3'],
  terminal: ['M3 2.8h10a1 1 0 0 1 1 1v8.4a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1V3.8a1 1 0 0 1 1-1Z', 'm4.8 6 2.2 2-2.2 2M8.6 10.2h2.6'],
  key: ['M5.6 13.2a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6Z', 'm7.7 8.5 5.6-5.6M10.6 5.6l2 2'],
  model: ['M8 1.8 13.4 5v6L8 14.2 2.6 11V5L8 1.8Z', 'M2.6 5 8 8.1 13.4 5M8 8.1v6.1'],
  branch: [
    'M4.3 5.4a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2ZM4.3 13.8a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2ZM11.7 6.4a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2Z',
    'M4.3 5.4v5.2M11.7 6.4c0 2-1.6 2.4-3.6 2.6-2 .2-3.8.4-3.8 1.6',
  ],
  paperclip: ['m13 7.4-5.3 5.3a3.3 3.3 0 0 1-4.7-4.7l5.5-5.5a2.2 2.2 0 0 1 3.1 3.1l-5.4 5.4a1.1 1.1 0 0 1-1.6-1.5l4.9-4.9'],
  image: [
    'M3 2.8h10a1 1 0 0 1 1 1v8.4a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1V3.8a1 1 0 0 1 1-1Z',
    'M5.4 7.2a1.1 1.1 0 1 0 0-2.2 1.1 1.1 0 0 0 0 2.2Z',
    'm2.4 11.8 3.2-3 2.2 2 2.8-3.2 3.2 3.4',
  ],
  send: ['M8 13V3', 'M3.8 7.2 8 3l4.2 4.2'],
  queue: ['M2.3 4h11.4M2.3 8h6M2.3 12h4', 'M11.5 8.2v5.4M8.8 10.9h5.4'],
  stop: ['M4.5 3.5h7a1 1 0 0 1 1 1v7a1 1 0 0 1-1 1h-7a1 1 0 0 1-1-1v-7a1 1 0 0 1 1-1Z'],
  play: ['M4.8 2.9v10.2L13 8 4.8 2.9Z'],
  pause: ['M5.6 3.2v9.6M10.4 3.2v9.6'],
  spinner: ['M8 2a6 6 0 1 0 6 6'],
  retry: ['M13.4 8A5.4 5.4 0 1 1 11.8 4.2', 'M13.4 2.2v3h-3'],

  check: ['m3 8.6 3.2 3.2L13 4.6'],
  'check-circle': [RING, 'm5.6 8.2 1.7 1.7 3.2-3.5'],
  'x-circle': [RING, 'm6 6 4 4M10 6l-4 4'],
  info: [RING, 'M8 7.3v3.5M8 5.1v.01'],
  warning: ['M8 2.4 14.2 13H1.8L8 2.4Z', 'M8 6.5v3M8 11.2v.01'],
  x: ['m3.8 3.8 8.4 8.4M12.2 3.8l-8.4 8.4'],
  plus: ['M8 3v10M3 8h10'],
  minus: ['M3.5 8h9'],
  more: ['M3 8a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0ZM7.5 8a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0ZM12 8a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0Z'],
  'chevron-right': ['m6 3.6 4.4 4.4L6 12.4'],
  'chevron-left': ['M10 3.6 5.6 8l4.4 4.4'],
  'chevron-down': ['M3.6 6 8 10.4 12.4 6'],
  'chevron-up': ['M3.6 10 8 5.6l4.4 4.4'],
  'chevrons-up-down': ['m5 6 3-3 3 3M5 10l3 3 3-3'],
  'arrow-down': ['M8 3v10', 'm3.8 8.8 4.2 4.2 4.2-4.2'],
  'arrow-left': ['M13 8H3', 'M7.2 3.8 3 8l4.2 4.2'],
  copy: [
    'M6.3 5.3h6.2a1 1 0 0 1 1 1v6.2a1 1 0 0 1-1 1H6.3a1 1 0 0 1-1-1V6.3a1 1 0 0 1 1-1Z',
    'M10.7 5.1V3.5a1 1 0 0 0-1-1H3.5a1 1 0 0 0-1 1v6.2a1 1 0 0 0 1 1h1.6',
  ],
  download: ['M8 2.4v7.8', 'M4.8 7.2 8 10.4l3.2-3.2', 'M2.6 13.4h10.8'],
  upload: ['M8 10.6V2.8', 'M4.8 6 8 2.8 11.2 6', 'M2.6 13.4h10.8'],
  panel: ['M3 2.8h10a1 1 0 0 1 1 1v8.4a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1V3.8a1 1 0 0 1 1-1Z', 'M10 2.8v10.4'],
  filter: ['M2.4 4h11.2M4.4 8h7.2M6.6 12h2.8'],
  pin: ['M6 2.4h4M6.6 2.4v4L4.4 8.8v1h7.2v-1L9.4 6.4v-4M8 9.8v3.8'],
  archive: ['M2.2 3h11.6v2.8H2.2V3Z', 'M3.2 5.8v6.4a1 1 0 0 0 1 1h7.6a1 1 0 0 0 1-1V5.8', 'M6.4 8.6h3.2'],
  trash: ['M2.6 4.2h10.8M6 4V2.6h4V4', 'm3.8 4.4.6 8.3a1 1 0 0 0 1 .9h5.2a1 1 0 0 0 1-.9l.6-8.3', 'M6.6 7v4M9.4 7v4'],
  edit: ['m3 10.6 7.5-7.5a1.5 1.5 0 0 1 2.2 0l.2.2a1.5 1.5 0 0 1 0 2.2L5.4 13 2.6 13.4 3 10.6Z', 'm9.2 4.4 2.4 2.4'],
  link: ['M6.8 9.2a2.6 2.6 0 0 0 3.7 0l2.2-2.2A2.6 2.6 0 0 0 9 3.3L8 4.3', 'M9.2 6.8a2.6 2.6 0 0 0-3.7 0L3.3 9A2.6 2.6 0 0 0 7 12.7l1-1'],
  external: ['M9.4 2.6h4v4', 'M13.2 2.8 7.8 8.2', 'M11.6 9.4v3a1 1 0 0 1-1 1H3.6a1 1 0 0 1-1-1V5.4a1 1 0 0 1 1-1h3'],
  eye: ['M1.8 8S4 3.8 8 3.8 14.2 8 14.2 8 12 12.2 8 12.2 1.8 8 1.8 8Z', 'M8 9.8a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6Z'],
  keyboard: [
    'M2.6 4h10.8a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1H2.6a1 1 0 0 1-1-1V5a1 1 0 0 1 1-1Z',
    'M4.2 6.6h.01M6.7 6.6h.01M9.2 6.6h.01M11.8 6.6h.01M5.2 9.6h5.6',
  ],
  offline: [
    'm2 2 12 12',
    'M1.8 6.2a9 9 0 0 1 2.4-1.6M7 3.6c2.6-.2 5.2.7 7.2 2.6M4 8.8a6 6 0 0 1 2.4-1.5M10 7.5c.8.3 1.4.7 2 1.3',
    'M8 12.4v.01',
  ],
  sun: [
    'M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6Z',
    'M8 1.6v1.2M8 13.2v1.2M1.6 8h1.2M13.2 8h1.2M3.5 3.5l.8.8M11.7 11.7l.8.8M12.5 3.5l-.8.8M4.3 11.7l-.8.8',
  ],
  moon: ['M13.4 9.6A5.8 5.8 0 0 1 6.4 2.6a5.8 5.8 0 1 0 7 7Z'],
  monitor: ['M2.8 2.8h10.4a.8.8 0 0 1 .8.8v6.6a.8.8 0 0 1-.8.8H2.8a.8.8 0 0 1-.8-.8V3.6a.8.8 0 0 1 .8-.8Z', 'M8 11v2.6M5.4 13.6h5.2'],
  'sign-out': ['M6.4 2.8H3.8a1 1 0 0 0-1 1v8.4a1 1 0 0 0 1 1h2.6', 'M6.6 8h6.8', 'm10.6 5.2 2.8 2.8-2.8 2.8'],
  user: ['M8 8a2.7 2.7 0 1 0 0-5.4A2.7 2.7 0 0 0 8 8Z', 'M2.8 13.6c.6-2.2 2.6-3.6 5.2-3.6s4.6 1.4 5.2 3.6'],
  folder: ['M2 12.2V4a1 1 0 0 1 1-1h3.2l1.6 1.8H13a1 1 0 0 1 1 1v6.4a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1Z'],
  store: [
    'M8 6.2c3 0 5.2-.9 5.2-2.1S11 2 8 2 2.8 2.9 2.8 4.1 5 6.2 8 6.2Z',
    'M2.8 4.1v7.8C2.8 13.1 5 14 8 14s5.2-.9 5.2-2.1V4.1M2.8 8c0 1.2 2.2 2.1 5.2 2.1s5.2-.9 5.2-2.1',
  ],
} as const satisfies Record<string, readonly string[]>;

export type IconName = keyof typeof paths;
export const iconNames = Object.keys(paths) as IconName[];

export interface IconProps {
  readonly name: IconName;
  /** 16 by default, 14 in pills and small text, 20 on the bottom bar. */
  readonly size?: number;
  readonly className?: string;
}

export function Icon({ name, size = 16, className }: IconProps): ReactNode {
  return (
    <svg
      className={className === undefined ? 'icon' : `icon ${className}`}
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.5}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      {paths[name].map((d) => (
        <path key={d} d={d} />
      ))}
    </svg>
  );
}

/** The mark: a tenon in its mortise. */
export function Mark({ size = 26 }: { readonly size?: number }): ReactNode {
  return (
    <svg className="mark" width={size} height={size} viewBox="0 0 26 26" aria-hidden="true" focusable="false">
      <rect className="mark-ground" width="26" height="26" rx="7" />
      <path className="mark-mortise" d="M12 7h8v12h-8v-2.6h5.2V9.6H12Z" />
      <path className="mark-tenon" d="M6 7h5v3.4h4v5.2h-4V19H6Z" />
    </svg>
  );
}
