// The house style that no formatter checks: sizes, headers, names, and forbidden texts.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, join } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { projectDir, readSources, type SourceFile } from './source-tree.ts';

const fileLinesMax = 400;
const testFileLinesMax = 500;
/** The texts of a language are one table, which is easier to translate in one file. */
const textFileLinesMax = 1_100;
const functionLinesMax = 70;
const columnsMax = 100;
const literalColumnsMax = 125;
const parametersMax = 4;

const sources = readSources();

function isTest(file: SourceFile): boolean {
  return file.path.startsWith('tests/');
}

function linesMax({ path }: SourceFile): number {
  if (path.startsWith('tests/')) return testFileLinesMax;
  return path.startsWith('console/src/texts/') ? textFileLinesMax : fileLinesMax;
}

/** The formatter breaks every line that it can; it cannot break a literal. */
function isTooWide(line: string): boolean {
  const isLiteral = /^\s*[^/\s*].*['"`]/.test(line);
  return line.length > (isLiteral ? literalColumnsMax : columnsMax);
}

interface FunctionSize {
  readonly where: string;
  readonly lines: number;
  readonly parameters: number;
}

function functionsOf(file: SourceFile): FunctionSize[] {
  const source = ts.createSourceFile(
    file.path,
    file.lines.join('\n'),
    ts.ScriptTarget.ES2022,
    true,
  );
  const sizes: FunctionSize[] = [];
  function visit(node: ts.Node): void {
    if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node)) {
      const start = source.getLineAndCharacterOfPosition(node.getStart()).line;
      const end = source.getLineAndCharacterOfPosition(node.end).line;
      const where = `${file.path}:${start + 1} ${node.name?.getText() ?? ''}`;
      sizes.push({ where, lines: end - start + 1, parameters: node.parameters.length });
    }
    ts.forEachChild(node, visit);
  }
  visit(source);
  return sizes;
}

describe('every source file', () => {
  test('has a limited number of lines', () => {
    const large = sources.filter((file) => file.lines.length > linesMax(file));
    expect(large.map(({ path, lines }) => `${path}: ${lines.length}`)).toEqual([]);
  });

  test('begins with a comment that describes it', () => {
    const bare = sources.filter((file) => !isTest(file) && !file.lines[0]?.startsWith('// '));
    expect(bare.map(({ path }) => path)).toEqual([]);
  });

  test('has no merge conflict marker', () => {
    const marks = sources.flatMap(({ path, lines }) =>
      lines.flatMap((line, index) => {
        return /^(?:<{7} |={7}$|>{7} )/.test(line) ? [`${path}:${index + 1}`] : [];
      }),
    );
    expect(marks).toEqual([]);
  });

  test('has a kebab-case name', () => {
    const odd = sources.filter(
      ({ path }) => !/^[a-z0-9-]+(?:\.(?:test|thorough\.test|config))?\.tsx?$/.test(basename(path)),
    );
    expect(odd.map(({ path }) => path)).toEqual([]);
  });

  test(`keeps its lines within ${columnsMax} columns, except for literals`, () => {
    const wide = sources.flatMap(({ path, lines }) =>
      lines.flatMap((line, index) => (isTooWide(line) ? [`${path}:${index + 1}`] : [])),
    );
    expect(wide.filter((place) => !place.startsWith('tests/'))).toEqual([]);
  });
});

describe('every function', () => {
  const functions = sources.filter((file) => !isTest(file)).flatMap(functionsOf);

  test(`has at most ${functionLinesMax} lines`, () => {
    expect(functions.filter(({ lines }) => lines > functionLinesMax)).toEqual([]);
  });

  test(`outside the System API and the actor has at most ${parametersMax} parameters`, () => {
    // The System API and the given Candid interface define their own parameters.
    const free = /^(?:kernel|replica\/execution|src\/actor)\//;
    const greedy = functions.filter(
      ({ where, parameters }) => parameters > parametersMax && !free.test(where),
    );
    expect(greedy).toEqual([]);
  });
});

describe('the repository', () => {
  function trackedText(): [path: string, text: string][] {
    const names = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
      cwd: projectDir,
    });
    return names
      .toString()
      .split('\n')
      .filter((path) => /\.(?:tsx?|css|md|json|ya?ml|did)$|^\.ci\/|^\.npmrc$/.test(path))
      .map((path) => [path, readFileSync(join(projectDir, path), 'utf8')]);
  }

  test('contains no path of a machine', () => {
    const own = 'tests/tidy/style.test.ts';
    const found = trackedText().filter(
      ([path, text]) => path !== own && /(?:^|[\s'"`(=])\/(?:work|root|home\/[a-z]+)\//.test(text),
    );
    expect(found.map(([path]) => path)).toEqual([]);
  });

  test('pins every dependency exactly and explains it in ARCHITECTURE.md', () => {
    const manifest = JSON.parse(readFileSync(join(projectDir, 'package.json'), 'utf8'));
    const architecture = readFileSync(join(projectDir, 'ARCHITECTURE.md'), 'utf8');
    const page = JSON.parse(readFileSync(join(projectDir, 'console/package.json'), 'utf8'));
    const dependencies = Object.entries<string>({
      ...manifest.dependencies,
      ...manifest.devDependencies,
      ...page.devDependencies,
    });
    for (const [name, version] of dependencies) {
      expect(version, name).toMatch(/^\d+\.\d+\.\d+$/);
      expect(architecture).toContain(`\`${name}\``);
    }
  });

  test('declares in each workspace what its sources import', () => {
    const declaredIn = (workspace: string): string[] => {
      const manifest = readFileSync(join(projectDir, workspace, 'package.json'), 'utf8');
      const { dependencies, devDependencies, optionalDependencies } = JSON.parse(manifest);
      return Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies });
    };
    const workspaceOf = (path: string) =>
      /^(?:packages\/[^/]+|console)(?=\/)/.exec(path)?.[0] ?? '';
    const workspaces = new Set(sources.map(({ path }) => workspaceOf(path)));
    const declared = new Map([...workspaces].map((name) => [name, declaredIn(name)]));
    const isProjectFile = (name: string) => /\.(?:tsx?|json|css)$/.test(name);
    const undeclared = sources.flatMap(({ path, imports }) => {
      // Tests may import the packages of any checked workspace.
      const known = path.startsWith('tests/')
        ? [...declared.values()].flat()
        : declared.get(workspaceOf(path));
      return imports
        .filter((name) => !isBuiltin(name) && !isProjectFile(name) && !name.startsWith('$'))
        .map((name) => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name)
        .filter((name) => known?.includes(name) !== true)
        .map((name) => `${path}: ${name}`);
    });
    expect(undeclared).toEqual([]);
  });

  test('keeps registry hosts out of the lock file', () => {
    const lock = readFileSync(join(projectDir, 'package-lock.json'), 'utf8');
    expect(lock).not.toMatch(/"resolved": "https?:/);
  });
});
