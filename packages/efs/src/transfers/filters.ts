// `--exclude` and `--include`: select the files of a folder for a transfer.

import { Option } from 'commander';
import picomatch from 'picomatch';

interface FilterRule {
  readonly glob: string;
  readonly isIncluded: boolean;
  /** Position among all rules of the command line. */
  readonly order: number;
}

export interface FilterFlags {
  readonly exclude?: readonly FilterRule[];
  readonly include?: readonly FilterRule[];
}

export interface Filter {
  /** Returns whether to transfer a path, relative to the folder and with slashes. */
  readonly isWanted: (path: string) => boolean;
  /** Returns whether no file in this folder can match. */
  readonly isClosed: (folder: string) => boolean;
}

export const filterHelp = `
The last matching --exclude or --include decides about a path; paths without a match are included.
GLOB: * and ? within a name, ** across folders, [a-z], {one,two}. Without a slash it matches names
at any depth, else paths below the folder; a matching folder includes or excludes all its files:
  --exclude node_modules --exclude '*.tmp'        skips these
  --exclude '*' --include '*.jpg'                 only pictures
  --exclude 'cache/**' --include cache/keep.txt   one file of a folder
--delete does not delete excluded files.`;

/** Commander collects each flag separately, so the common order is recorded here. */
let ruleCount = 0;

function rule(isIncluded: boolean) {
  return (glob: string, former: readonly FilterRule[] = []): FilterRule[] => {
    ruleCount++;
    return [...former, { glob, isIncluded, order: ruleCount }];
  };
}

export const exclude = () =>
  new Option('--exclude <glob>', 'skip matching files; repeatable').argParser(rule(false));
export const include = () =>
  new Option('--include <glob>', 'do not skip matching files; repeatable').argParser(rule(true));

export function filterOf({ exclude: excluded = [], include: included = [] }: FilterFlags): Filter {
  const rules = [...excluded, ...included]
    .sort((one, other) => one.order - other.order)
    .map(({ glob, isIncluded }) => ({ matches: matcherOf(glob), isIncluded }));
  const isWanted = (path: string) => {
    const parents = parentsOf(path);
    return rules.findLast(({ matches }) => matches(path, parents))?.isIncluded ?? true;
  };
  const isClosed = (folder: string) => included.length === 0 && !isWanted(`${folder}/`);
  return { isWanted, isClosed };
}

type Matcher = (path: string, parents: readonly string[]) => boolean;

function matcherOf(glob: string): Matcher {
  const isFolder = glob.endsWith('/');
  const pattern = glob.replace(/\/$/, '').replace(/^\//, '');
  const isOfNames = !glob.replace(/\/$/, '').includes('/');
  const matches = picomatch(pattern, { dot: true, nonegate: true, windows: false });
  const last = (path: string) => path.slice(path.lastIndexOf('/') + 1);
  const isMatch = (path: string) => matches(isOfNames ? last(path) : path);
  return (path, parents) => (!isFolder && isMatch(path)) || parents.some(isMatch);
}

/** Returns `a` and `a/b` for `a/b/c`. */
function parentsOf(path: string): string[] {
  const parents: string[] = [];
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
    parents.push(path.slice(0, at));
  }
  return parents;
}
