// Shows a text of comma-separated values as a table.

import Papa from 'papaparse';
import type { ComponentChildren } from 'preact';
import { texts } from '../language.ts';

/** More rows or columns would make the page slow; the file itself is unchanged. */
const rowsMax = 1_000;
const columnsMax = 100;

/** The first row is the head. Guesses the separator: comma, semicolon, tab or bar. */
export function CsvTable({ text }: { text: string }) {
  const { data, meta } = Papa.parse<string[]>(text, { preview: rowsMax + 1, skipEmptyLines: true });
  const [head = [], ...rows] = data.map((row) => row.slice(0, columnsMax));
  return (
    <>
      <Scrolled>
        <table dir="auto">
          <thead>
            <tr>
              {head.map((cell, index) => (
                <th key={index} scope="col">
                  {cell}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <tr key={index}>
                {row.map((cell, column) => (
                  <td key={column}>{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolled>
      {meta.truncated && <p class="quiet">{texts().file.firstRows(rowsMax)}</p>}
    </>
  );
}

function Scrolled({ children }: { children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it.
    <section class="csv" aria-label={texts().file.table} tabIndex={0}>
      {children}
    </section>
  );
}
