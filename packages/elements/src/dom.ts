// Makes elements. Texts become text nodes, never HTML, because names of files are strangers' words.

type Child = Node | string | undefined;
/** Attributes by name; undefined and false leave one out. */
type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** `part` also becomes the class, by which the style sheet finds the element. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  const { part } = attributes;
  if (typeof part === 'string') element.classList.add(...part.split(' '));
  element.append(...children.filter((child) => child !== undefined));
  return element;
}

export function makeButton(
  attributes: Attributes & { readonly text: string },
  onClick: () => void,
): HTMLButtonElement {
  const { text, ...others } = attributes;
  const button = make('button', { type: 'button', part: 'button', ...others }, text);
  button.addEventListener('click', onClick);
  return button;
}

/** An image for the whole element, which its text describes. */
export function makeSign(text: string): HTMLElement {
  return make('span', { part: 'sign', 'aria-hidden': 'true' }, text);
}

/** Returns the size in the unit that suits it, in the page's language. */
export function sizeText(bytes: number): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'];
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(bytes || 1) / 3)));
  const style = { style: 'unit', unitDisplay: power === 0 ? 'long' : 'short' } as const;
  const rest = { unit: units[power] ?? 'byte', maximumFractionDigits: 1 };
  return numberFormat({ ...style, ...rest }).format(bytes / 1_000 ** power);
}

function numberFormat(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  try {
    return new Intl.NumberFormat(document.documentElement.lang || undefined, options);
  } catch {
    // The page's `lang` is not a language tag.
    return new Intl.NumberFormat(undefined, options);
  }
}
