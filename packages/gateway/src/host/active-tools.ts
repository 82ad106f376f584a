// Which tools extensions have left active. Each says for itself, for one session or for all, and only what every one of them leaves is
// active: it narrows what the agent has, and never widens it. It holds until the extension says otherwise, until the session is over,
// or until the extension is loaded anew or goes; a crash does not end it.

export interface ActiveTools {
  /**
   * Replaces what it said of this session before, or of all. Tools that `covers` is false for stay as they are; without it, all are
   * covered. False: it has said something of as many sessions as it may.
   */
  narrow(extension: string, sessionKey: string | undefined, tools: ReadonlySet<string>, covers?: (tool: string) => boolean): boolean;
  /** Whether everybody leaves this tool active here. */
  isActive(tool: string, sessionKey: string): boolean;
  /** The extension goes, or begins anew. */
  forget(extension: string): void;
  /** The session was reset or deleted. */
  forgetSession(sessionKey: string): void;
}

interface Left {
  everywhere?: Word;
  readonly inSession: Map<string, Word>;
}

/** What one extension has said once. */
interface Word {
  readonly tools: ReadonlySet<string>;
  readonly covers: (tool: string) => boolean;
}

export function createActiveTools(maxSessions: number): ActiveTools {
  const byExtension = new Map<string, Left>();
  return {
    narrow(extension, sessionKey, tools, covers = () => true) {
      const left: Left = byExtension.get(extension) ?? { inSession: new Map() };
      byExtension.set(extension, left);
      if (sessionKey === undefined) left.everywhere = { tools, covers };
      else if (left.inSession.size >= maxSessions && !left.inSession.has(sessionKey)) return false;
      else left.inSession.set(sessionKey, { tools, covers });
      return true;
    },
    isActive(tool, sessionKey) {
      for (const { everywhere, inSession } of byExtension.values()) {
        // What it says of one session stands in place of what it says of all.
        const word = inSession.get(sessionKey) ?? everywhere;
        if (word?.covers(tool) && !word.tools.has(tool)) return false;
      }
      return true;
    },
    forget: (extension) => void byExtension.delete(extension),
    forgetSession(sessionKey) {
      for (const { inSession } of byExtension.values()) inSession.delete(sessionKey);
    },
  };
}
