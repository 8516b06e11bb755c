// The test files that judge a network elsewhere: those whose service is not started with options of
// our own replica, as faults, a profile or a front.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDir } from '../../tidy/source-tree.ts';

const folders = ['acceptance', 'certification', 'client'];

/** Returns paths relative to the project, in alphabetical order. */
export function judgedFiles(): string[] {
  const files = folders.flatMap((folder) =>
    readdirSync(join(projectDir, 'tests', folder)).map((name) => `tests/${folder}/${name}`),
  );
  return files.filter((path) => {
    return path.endsWith('.test.ts') && opensOwn.test(readFileSync(join(projectDir, path), 'utf8'));
  });
}

const opensOwn =
  /\b(?:openService\((?:\{ hasFront: false \})?\)|openCertifiedCanister\(\)|openFront\(\))/;
