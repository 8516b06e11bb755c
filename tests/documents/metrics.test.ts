// The page about monitoring, the dashboard and the alerts name metrics that exist.

import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { metricNames } from '../../packages/wire/src/metrics/families.ts';

const namesIn = (text: string) => new Set(text.match(/\befs_[a-z_]+\b/g) ?? []);
const known = new Set(metricNames);

describe('docs/how-to/monitor.md', () => {
  test('lists every metric, and no other', async () => {
    const page = await readFile('docs/how-to/monitor.md', 'utf8');
    expect([...namesIn(page)].sort()).toEqual([...known].sort());
  });
});

interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
}

describe('docs/monitoring/grafana.json', () => {
  test('has panels whose queries name only metrics that exist', async () => {
    const board = JSON.parse(await readFile('docs/monitoring/grafana.json', 'utf8'));
    const panels: readonly Panel[] = board.panels;
    expect(panels.length).toBeGreaterThan(10);
    for (const { title, targets } of panels) {
      const names = targets.flatMap(({ expr }) => [...namesIn(expr)]);
      expect(names.length, title).toBeGreaterThan(0);
      expect(
        names.filter((name) => !known.has(name)),
        title,
      ).toEqual([]);
    }
  });
});

describe('docs/monitoring/alerts.yml', () => {
  test('has alerts on metrics that exist', async () => {
    const { groups } = parse(await readFile('docs/monitoring/alerts.yml', 'utf8'));
    const rules: readonly { readonly alert: string; readonly expr: string }[] = groups[0].rules;
    for (const { alert, expr } of rules) {
      expect([...namesIn(expr)].length, alert).toBeGreaterThan(0);
      expect(
        [...namesIn(expr)].filter((name) => !known.has(name)),
        alert,
      ).toEqual([]);
    }
  });
});
