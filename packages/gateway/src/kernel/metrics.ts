// Counters and gauges, printed as Prometheus reads them. Labels come from closed sets only, so the number of series is bounded.

export interface Metrics {
  count(name: string, labels?: Readonly<Record<string, string>>, by?: number): void;
  /** A value that is read when somebody asks. */
  gauge(name: string, help: string, read: () => number): void;
  describe(name: string, help: string): void;
  value(name: string, labels?: Readonly<Record<string, string>>): number;
  render(): string;
}

const MAX_SERIES = 2_000;

export function createMetrics(): Metrics {
  const counters = new Map<string, Map<string, number>>();
  const gauges = new Map<string, { help: string; read: () => number }>();
  const helps = new Map<string, string>();
  let series = 0;

  return {
    count(name, labels, by = 1) {
      let family = counters.get(name);
      if (!family) {
        family = new Map();
        counters.set(name, family);
      }
      const key = renderLabels(labels);
      const before = family.get(key);
      if (before === undefined && ++series > MAX_SERIES) return;
      family.set(key, (before ?? 0) + by);
    },
    gauge(name, help, read) {
      gauges.set(name, { help, read });
    },
    describe(name, help) {
      helps.set(name, help);
    },
    value: (name, labels) => counters.get(name)?.get(renderLabels(labels)) ?? 0,
    render() {
      const lines: string[] = [];
      for (const [name, { help, read }] of gauges) lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, `${name} ${read()}`);
      for (const [name, family] of counters) {
        lines.push(`# HELP ${name} ${helps.get(name) ?? name.replaceAll('_', ' ')}`, `# TYPE ${name} counter`);
        for (const [labels, value] of family) lines.push(`${name}${labels} ${value}`);
      }
      return `${lines.join('\n')}\n`;
    },
  };
}

/** Who counts often keeps its labels: what they look like is kept with them. */
const rendered = new WeakMap<object, string>();

function renderLabels(labels: Readonly<Record<string, string>> | undefined): string {
  if (!labels) return '';
  const known = Object.isFrozen(labels) ? rendered.get(labels) : undefined;
  if (known !== undefined) return known;
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${value.replace(/[\\"\n]/g, '_')}"`);
  const text = `{${parts.join(',')}}`;
  if (Object.isFrozen(labels)) rendered.set(labels, text);
  return text;
}
