// The sources for the tidy tests: files, their lines and imports.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const projectDir = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

export interface SourceFile {
  /** Relative to the project's root, with slashes. */
  readonly path: string;
  readonly lines: readonly string[];
  /** Project files by path, packages by name. */
  readonly imports: readonly string[];
}

const folders = ['src', 'kernel', 'packages', 'console', 'scripts', 'bench', 'tests'];
/** Folder of generated sources. */
const generated = 'packages/client/src/candid';
const made = /^(?:packages\/\w+|console)\/dist\/|\/node_modules\//;

export function readSources(): SourceFile[] {
  return folders.flatMap((folder) => listFiles(folder)).map(readSource);
}

function listFiles(folder: string): string[] {
  try {
    const options = { withFileTypes: true, recursive: true } as const;
    return (
      readdirSync(join(projectDir, folder), options)
        .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
        .map((entry) => relative(projectDir, join(entry.parentPath, entry.name)))
        // Excludes generated sources
        .filter((path) => dirname(path) !== generated && !made.test(path))
    );
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

export function readSource(path: string): SourceFile {
  const text = readFileSync(join(projectDir, path), 'utf8');
  const specifiers = [...text.matchAll(/(?:^|\n)(?:import|export)\b[^;'"`]*?from\s+'([^']+)'/g)];
  const bare = [...text.matchAll(/(?:^|\n)import\s+'([^']+)'/g)];
  const dynamic = [...text.matchAll(/\bimport\('([^']+)'\)/g)];
  const imports = [...specifiers, ...bare, ...dynamic].map(([, name = '']) =>
    resolveImport(path, name),
  );
  return { path, lines: text.split('\n'), imports };
}

/** Returns a path relative to the project's root; packages by name. */
export function resolveImport(importer: string, specifier: string): string {
  if (!specifier.startsWith('.')) return specifier;
  const path = join(dirname(importer), specifier);
  // AssemblyScript omits the extension.
  return /\.(?:tsx?|json|css)$/.test(path) ? path : `${path}.ts`;
}
