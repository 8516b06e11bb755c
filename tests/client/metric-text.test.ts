// The text formats of metrics, and the choice between them.

import { describe, expect, test } from 'vitest';
import {
  contentTypes,
  type Family,
  formatFor,
  metricText,
} from '../../packages/wire/src/metrics/text.ts';

const families: Family[] = [
  {
    name: 'efs_code',
    type: 'info',
    help: 'Code.',
    samples: [{ labels: { version: '0.3.0' }, value: 1 }],
  },
  {
    name: 'efs_stored_bytes',
    type: 'gauge',
    help: 'A "quoted" \\ and\nbroken line.',
    samples: [
      { labels: { bucket: 'a"b\\c\nd' }, value: 1.5 },
      { labels: {}, value: 483183820800 },
    ],
  },
  { name: 'efs_absent', type: 'gauge', help: 'Nothing.', samples: [] },
];

describe('metricText()', () => {
  test('writes OpenMetrics with units, infos and an end', () => {
    expect(metricText(families, 'openmetrics')).toBe(
      [
        '# TYPE efs_code info',
        '# HELP efs_code Code.',
        'efs_code_info{version="0.3.0"} 1',
        '# TYPE efs_stored_bytes gauge',
        '# UNIT efs_stored_bytes bytes',
        String.raw`# HELP efs_stored_bytes A \"quoted\" \\ and\nbroken line.`,
        String.raw`efs_stored_bytes{bucket="a\"b\\c\nd"} 1.5`,
        'efs_stored_bytes 483183820800',
        '# EOF',
        '',
      ].join('\n'),
    );
  });

  test('writes the format of Prometheus without units and infos', () => {
    expect(metricText(families, 'prometheus')).toBe(
      [
        '# TYPE efs_code_info gauge',
        '# HELP efs_code_info Code.',
        'efs_code_info{version="0.3.0"} 1',
        '# TYPE efs_stored_bytes gauge',
        String.raw`# HELP efs_stored_bytes A "quoted" \\ and\nbroken line.`,
        String.raw`efs_stored_bytes{bucket="a\"b\\c\nd"} 1.5`,
        'efs_stored_bytes 483183820800',
        '',
      ].join('\n'),
    );
    expect(metricText([], 'openmetrics')).toBe('# EOF\n');
  });
});

describe('formatFor()', () => {
  test.each([
    [undefined, 'openmetrics'],
    ['*/*', 'openmetrics'],
    ['text/plain', 'prometheus'],
    ['text/plain;version=0.0.4;q=0.5,*/*;q=0.1', 'prometheus'],
    [
      'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;' +
        'q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
      'openmetrics',
    ],
    ['application/openmetrics-text;q=0.1, text/*;q=0.2', 'prometheus'],
    ['text/plain;q=0', 'openmetrics'],
    ['text/html', 'openmetrics'],
    ['text/plain;q=x', 'openmetrics'],
  ] as const)('answers Accept: %s with %s', (accept, format) => {
    expect(formatFor(accept)).toBe(format);
  });

  test('has the registered content types', () => {
    expect(contentTypes).toEqual({
      openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
      prometheus: 'text/plain; version=0.0.4; charset=utf-8',
    });
  });
});
