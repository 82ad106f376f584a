// How much the page keeps. What goes over is forgotten oldest first and can be read again.
export const bounds = {
  /** Conversations in memory, the latest used stay. */
  chats: 8,
  /** Entries of one conversation. */
  entries: 4_000,
  /** Sessions of the list. */
  sessions: 5_000,
  approvals: 1_000,
  /** Places where plugins need a person. */
  required: 50,
  /** Questions of extensions. */
  questions: 100,
  /** At once; errors stay until they are closed. */
  toasts: 3,
  /** Characters of one message that streams. */
  liveText: 2_000_000,
  /** Events that wait for the next frame; a tab in the background has none for minutes. */
  waitingEvents: 2_000,
} as const;
