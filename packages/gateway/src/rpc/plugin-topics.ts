// Which events of plugins a client wants: all of them, or those that it named, one by one or as `plugin.<id>.*`. They are not
// in the table of events, because plugins come and go while a client stays.

export interface PluginTopics {
  wants(event: string): boolean;
  add(names: readonly string[]): void;
  remove(names: readonly string[]): void;
  /** As they are told to the client. */
  list(): string[];
}

const TOPIC = /^plugin\.(\*|[a-z0-9][a-z0-9_-]{0,63}\.(\*|[A-Za-z0-9][A-Za-z0-9._-]{0,47}))$/;
const EVERY = 'plugin.*';
/** Names of one client; what is more is not taken, and not in the list that it is answered with. */
const MAX_TOPICS = 256;

export function createPluginTopics(named: readonly string[] | undefined): PluginTopics {
  const wanted = new Set<string>();
  const unwanted = new Set<string>();
  add(named ?? [EVERY]);

  function add(names: readonly string[]): void {
    for (const name of names) {
      if (!TOPIC.test(name)) continue;
      unwanted.delete(name);
      if (name === EVERY) unwanted.clear();
      if (wanted.size < MAX_TOPICS) wanted.add(name);
    }
  }

  return {
    wants(event) {
      const names = topicsOf(event);
      return names.some((name) => wanted.has(name)) && !names.some((name) => unwanted.has(name));
    },
    add,
    remove(names) {
      for (const name of names) {
        if (!TOPIC.test(name)) continue;
        wanted.delete(name);
        if (name === EVERY) wanted.clear();
        else if (unwanted.size < MAX_TOPICS) unwanted.add(name);
      }
    },
    list: () => [...wanted],
  };
}

/** The names under which an event is asked for. */
function topicsOf(event: string): string[] {
  const [prefix = '', id = ''] = event.split('.', 2);
  return [event, `${prefix}.${id}.*`, EVERY];
}
