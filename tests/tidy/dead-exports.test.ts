// Each export is imported by another module.

import { describe, expect, test } from 'vitest';
import { readSource, readSources, resolveImport, type SourceFile } from './source-tree.ts';

const exportPattern =
  /^export (?:declare |abstract |async )*(function\*?|const|let|class|interface|type) +(\w+)/gm;
const listPattern =
  /^(import|export)\s+(?:type\s+)?(?:\w+,\s*)?\{([^}]*)\}(?:\s+from\s+'([^']+)')?/gm;
const wholePattern =
  /^(?:import|export)\s+(?:type\s+)?\*(?:\s+as\s+\w+)?\s+from\s+'([^']+)'|\bimport\('([^']+)'\)/gm;

interface Uses {
  /** `path name` of each imported name. */
  readonly names: ReadonlySet<string>;
  /** Modules that are imported as a whole. */
  readonly whole: ReadonlySet<string>;
}

function usesIn(files: readonly SourceFile[]): Uses {
  const names = new Set<string>();
  const whole = new Set<string>();
  for (const { path, lines } of files) {
    const text = lines.join('\n');
    for (const [, , list = '', from] of text.matchAll(listPattern)) {
      if (from === undefined) continue;
      const target = resolveImport(path, from);
      for (const entry of list.split(',')) {
        const [name = ''] = entry
          .trim()
          .replace(/^type\s+/, '')
          .split(/\s+as\s+/);
        if (name !== '') names.add(`${target} ${name}`);
      }
    }
    for (const [, all, dynamic] of text.matchAll(wholePattern)) {
      whole.add(resolveImport(path, all ?? dynamic ?? ''));
    }
  }
  return { names, whole };
}

/** Returns the exports, without types that the module itself uses. */
function exportsOf({ path, lines }: SourceFile): string[] {
  const text = lines.join('\n');
  const declared = [...text.matchAll(exportPattern)].flatMap(([, kind = '', name = '']) => {
    const isType = kind === 'interface' || kind === 'type';
    const isMadeOf = isType && text.split(new RegExp(`\\b${name}\\b`)).length > 2;
    return isMadeOf ? [] : [name];
  });
  const handedOn = [...text.matchAll(listPattern)].flatMap(([, kind, list = '']) => {
    if (kind !== 'export') return [];
    const shown = list.split(',').map((entry) => entry.trim().replace(/^type\s+/, ''));
    return shown.filter((name) => name !== '').map((name) => name.split(/\s+as\s+/).at(-1) ?? name);
  });
  return [...declared, ...handedOn].map((name) => `${path} ${name}`);
}

/** Modules whose exports are used outside the sources: by the Wasm, by the build, by a launcher. */
const faces = new Set([
  'bench/probes.ts',
  'console/vite.config.ts',
  'kernel/exports.ts',
  'packages/client/src/bytes/sha256-software.ts',
  'packages/replica/src/command/main.ts',
]);

/** Includes the entry modules of packages. */
const isFace = (path: string) =>
  faces.has(path) || /^packages\/\w+\/src\/(?:node\/)?index\.ts$/.test(path);

function deadExports(files: readonly SourceFile[]): string[] {
  const { names, whole } = usesIn(files);
  return files
    .filter(({ path }) => !isFace(path) && !whole.has(path))
    .flatMap(exportsOf)
    .filter((name) => !names.has(name));
}

describe('an export', () => {
  test('is used by another module', () => {
    expect(deadExports([...readSources(), readSource('vitest.config.ts')])).toEqual([]);
  });

  test('that no module uses is found', () => {
    const files = [
      {
        path: 'src/a.ts',
        lines: ['export const used = 1;', 'export const dead = 2;'],
        imports: [],
      },
      { path: 'src/b.ts', lines: ["import { used } from './a.ts';"], imports: ['src/a.ts'] },
    ];
    expect(deadExports(files)).toEqual(['src/a.ts dead']);
  });
});
