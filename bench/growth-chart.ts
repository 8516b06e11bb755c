// Draws costs of requests over the number of files in a bucket as an SVG. Flat lines are the goal.

import type { Costs } from './table.ts';

const width = 720;
const height = 360;
const plot = { left: 60, right: 500, top: 30, bottom: 310 };
const lines: readonly (readonly [name: string, color: string])[] = [
  ['list date_asc last pages', '#a83232'],
  ['list name_asc last pages', '#d9822b'],
  ['replace', '#6f3ba8'],
  ['PUT', '#2b6cb0'],
  ['GET', '#2f855a'],
  ['DELETE', '#4a5568'],
];
const labelHeight = 16;

interface Point {
  readonly x: number;
  readonly y: number;
}

function text(at: Point, content: string, attributes = ''): string {
  return `<text x="${at.x.toFixed(1)}" y="${at.y.toFixed(1)}" ${attributes}>${content}</text>`;
}

/** Returns the SVG. `results`: millions of instructions of each request by number of files. */
export function growthChart(results: Readonly<Record<number, Costs>>): string {
  const counts = Object.keys(results).map(Number);
  const [first = 1, last = 10] = [counts[0], counts.at(-1)];
  const drawn = lines.filter(([name]) => results[first]?.[name] !== undefined);
  const values = drawn.flatMap(([name]) => counts.map((count) => results[count]?.[name] ?? 0));
  const top = 5 * Math.ceil(Math.max(...values) / 5);
  const xOf = (count: number) =>
    plot.left + ((plot.right - plot.left) * Math.log(count / first)) / Math.log(last / first || 10);
  const yOf = (value: number) => plot.bottom - ((plot.bottom - plot.top) * value) / top;
  const grid = Array.from({ length: top / 5 + 1 }, (_, index) => {
    const y = yOf(5 * index);
    const line = `<path d="M${plot.left} ${y}H${plot.right}" stroke="#ddd"/>`;
    return line + text({ x: plot.left - 8, y: y + 4 }, String(5 * index), 'text-anchor="end"');
  });
  const marks = counts.map((count) =>
    text(
      { x: xOf(count), y: plot.bottom + 20 },
      count.toLocaleString('en-US'),
      'text-anchor="middle"',
    ),
  );
  let free = 0;
  const curves = drawn.map(([name, color]) => {
    const points = counts.map((count) => ({ x: xOf(count), y: yOf(results[count]?.[name] ?? 0) }));
    const path = points.map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`).join('L');
    const end = points.at(-1)?.y ?? 0;
    free = Math.max(free + labelHeight, end + 4);
    const curve = `<path d="M${path}" fill="none" stroke="${color}" stroke-width="2"/>`;
    return curve + text({ x: plot.right + 10, y: free }, name, `fill="${color}"`);
  });
  const title = 'Millions of instructions by number of files in the bucket';
  const font = 'font-family="sans-serif" font-size="12"';
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" ${font}>`;
  const parts = [
    head,
    `<title>${title}</title>`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    text({ x: plot.left, y: 18 }, title, 'font-size="14"'),
    ...grid,
    ...marks,
    ...curves,
  ];
  return `${parts.join('\n')}\n</svg>\n`;
}
