// A plain reference model of the rules of a site: the answer at each address of a bucket with these
// files and lines of `_redirects`, by patterns that are tried one by one.

export interface ReferenceRule {
  readonly from: string;
  readonly to: string;
  readonly status: number;
}

const isWild = ({ from }: ReferenceRule) => from.endsWith('/*');

function patternOf({ from }: ReferenceRule): RegExp {
  const path = from.replace(/\/\*$/, '').replace(/\/:(\w+)/g, '/(?<$1>[^/]+)');
  const rest = from.endsWith('/*') ? '(?:/(?<splat>.*))?' : '';
  return new RegExp(`^${path === '/' ? '' : path}${rest}$`);
}

function isCovered(rules: readonly ReferenceRule[], rule: ReferenceRule): boolean {
  const path = rule.from.replace(/\/\*$/, '').replace(/^\/$/, '');
  return rules.some((earlier) => {
    const isFixed = !earlier.from.includes(':');
    return isFixed && (isWild(earlier) || !isWild(rule)) && patternOf(earlier).test(path);
  });
}

/** Returns the rules that have an effect. */
function effective(rules: readonly ReferenceRule[]): ReferenceRule[] {
  const found: ReferenceRule[] = [];
  for (const rule of rules) if (!isCovered(found, rule)) found.push(rule);
  return found;
}

/** `address`: the part of the URL after the bucket. Returns status, and location or text. */
export function referenceAnswer(
  files: ReadonlyMap<string, string>,
  rules: readonly ReferenceRule[],
  address: string,
): string {
  const path = address.slice(1);
  const isFolder = address.endsWith('/');
  const own = isFolder ? undefined : (files.get(path) ?? files.get(`${path}.html`));
  if (own !== undefined) return `200 ${own}`;
  const index = files.get(`${path}${isFolder || path === '' ? '' : '/'}index.html`);
  if (index !== undefined && isFolder) return `200 ${index}`;
  if (index !== undefined) return `308 ./${path.split('/').at(-1) || 'demo'}/`;
  const plain = address.replace(/\/$/, '');
  for (const rule of effective(rules)) {
    const found = patternOf(rule).exec(plain);
    if (found === null) continue;
    if (rule.status >= 300 && rule.status < 400) {
      const to = rule.to.replace(/:([a-z]+)/g, (name, word) =>
        name === ':' ? name : (found.groups?.[word] ?? (word === 'splat' ? '' : name)),
      );
      return `${rule.status} ${to.startsWith('/') ? `/cloud/demo${to}` : to}`;
    }
    const text = files.get(rule.to.slice(1));
    if (text !== undefined) return `${rule.status} ${text}`;
  }
  const page = files.get('404.html');
  return page === undefined ? '404 NoSuchFile' : `404 ${page}`;
}
