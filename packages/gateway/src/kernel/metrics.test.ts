import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from './metrics.ts';

test('counters and gauges are printed as Prometheus reads them', () => {
  const metrics = createMetrics();
  metrics.describe('tenon_requests_total', 'Requests.');
  metrics.count('tenon_requests_total', { method: 'health', outcome: 'ok' });
  metrics.count('tenon_requests_total', { method: 'health', outcome: 'ok' }, 2);
  metrics.gauge('tenon_connections', 'Connections.', () => 7);
  assert.equal(metrics.value('tenon_requests_total', { method: 'health', outcome: 'ok' }), 3);
  assert.equal(
    metrics.render(),
    [
      '# HELP tenon_connections Connections.',
      '# TYPE tenon_connections gauge',
      'tenon_connections 7',
      '# HELP tenon_requests_total Requests.',
      '# TYPE tenon_requests_total counter',
      'tenon_requests_total{method="health",outcome="ok"} 3',
      '',
    ].join('\n'),
  );
});

test('a label cannot break the format, and the number of series is bounded', () => {
  const metrics = createMetrics();
  metrics.count('a', { label: 'x"\n\\y' });
  assert.match(metrics.render(), /a\{label="x___y"\} 1/);
  for (let index = 0; index < 5_000; index++) metrics.count('b', { index: String(index) });
  assert.ok(metrics.render().split('\n').length < 2_100);
});
