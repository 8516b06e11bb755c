// Metrics as text: OpenMetrics 1.0, and the format 0.0.4 of Prometheus, which older programs read.
// https://github.com/OpenObservability/OpenMetrics, "Text format".

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly name: string;
  /** An `info` has samples of the value 1, whose labels are the information. */
  readonly type: 'gauge' | 'info';
  readonly help: string;
  readonly samples: readonly Sample[];
}

export type MetricFormat = 'openmetrics' | 'prometheus';

export const contentTypes: Readonly<Record<MetricFormat, string>> = {
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
};

/** A name that ends in one of them has this unit, which OpenMetrics states. */
const units = ['bytes', 'seconds', 'cycles'];

/** Returns the format that the field Accept prefers; OpenMetrics if it prefers none. */
export function formatFor(accept: string | undefined): MetricFormat {
  const isPlain = weightOf(accept, 'text/plain') > weightOf(accept, 'application/openmetrics-text');
  return isPlain ? 'prometheus' : 'openmetrics';
}

/** Returns the weight of a media type (RFC 9110, "Accept"): of itself, or of a range with it. */
function weightOf(accept: string | undefined, type: string): number {
  const [whole] = type.split('/');
  const weights = new Map<string, number>();
  for (const part of (accept ?? '*/*').slice(0, 2_000).split(',')) {
    const [range = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    const quality = parameters.find((text) => text.startsWith('q='));
    const weight = quality === undefined ? 1 : Number(quality.slice(2)) || 0;
    weights.set(range, Math.max(weight, weights.get(range) ?? 0));
  }
  return weights.get(type) ?? weights.get(`${whole}/*`) ?? weights.get('*/*') ?? 0;
}

export function metricText(families: readonly Family[], format: MetricFormat): string {
  // Families share their labels, whose text costs the canister more than the rest of a line
  const known = new Map<Sample['labels'], string>();
  const labelsOf = (labels: Sample['labels']): string => {
    const text = known.get(labels) ?? labelText(labels);
    known.set(labels, text);
    return text;
  };
  const lines = families.flatMap((family) => linesOf(family, format, labelsOf));
  if (format === 'openmetrics') lines.push('# EOF');
  return `${lines.join('\n')}\n`;
}

function linesOf(
  { name, type, help, samples }: Family,
  format: MetricFormat,
  labelsOf: (labels: Sample['labels']) => string,
): string[] {
  if (samples.length === 0) return [];
  const isOpen = format === 'openmetrics';
  const full = type === 'info' ? `${name}_info` : name;
  const unit = units.find((one) => name.endsWith(`_${one}`));
  const named = isOpen ? name : full;
  return [
    `# TYPE ${named} ${isOpen ? type : 'gauge'}`,
    ...(isOpen && unit !== undefined ? [`# UNIT ${named} ${unit}`] : []),
    `# HELP ${named} ${escaped(help, isOpen)}`,
    ...samples.map(({ labels, value }) => `${full}${labelsOf(labels)} ${value}`),
  ];
}

function labelText(labels: Sample['labels']): string {
  const shown = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value, true)}"`);
  return shown.length === 0 ? '' : `{${shown.join(',')}}`;
}

function escaped(text: string, quotes: boolean): string {
  const plain = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return quotes ? plain.replaceAll('"', '\\"') : plain;
}
