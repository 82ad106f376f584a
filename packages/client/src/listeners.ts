// A set of callbacks. One that throws stops neither the others nor the client; its error is thrown again on its own,
// so that `window.onerror` or `uncaughtException` shows it instead of nobody.

export interface Listeners<Args extends unknown[]> {
  add(listener: (...args: Args) => void): () => void;
  emit(...args: Args): void;
}

export function createListeners<Args extends unknown[]>(): Listeners<Args> {
  const listeners = new Set<(...args: Args) => void>();
  return {
    add(listener) {
      // Wrapped, so that adding the same function twice gives two subscriptions that end one by one.
      const own = (...args: Args) => listener(...args);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    emit(...args) {
      for (const listener of [...listeners]) {
        try {
          listener(...args);
        } catch (error) {
          queueMicrotask(() => {
            throw error;
          });
        }
      }
    },
  };
}
