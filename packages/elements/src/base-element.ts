// The base of the elements: a shadow root with a style sheet, properties that reflect attributes,
// texts that a page can replace, and one render() after several changes.

import { adopt } from './styles.ts';

/** Servers that render pages may import the package, and have no elements. */
const PlatformElement = (globalThis.HTMLElement ?? class {}) as typeof HTMLElement;

export abstract class BaseElement<Texts extends object> extends PlatformElement {
  protected readonly root: ShadowRoot;
  readonly #standardTexts: Texts;
  #texts: Texts;
  #isRenderDue = false;

  constructor(css: string, texts: Texts) {
    super();
    this.root = this.attachShadow({ mode: 'open' });
    adopt(this.root, css);
    this.#standardTexts = texts;
    this.#texts = texts;
  }

  /** All texts of the element. Assign some of them to replace these, for example to translate. */
  get texts(): Texts {
    return this.#texts;
  }

  set texts(texts: Partial<Texts>) {
    this.#texts = { ...this.#standardTexts, ...texts };
    this.changed();
  }

  connectedCallback(): void {
    upgradeProperties(this);
    this.changed();
  }

  attributeChangedCallback(_name: string, former: string | null, value: string | null): void {
    if (former !== value) this.changed();
  }

  /** Draws the element anew before the page's next task, if it is in a document. */
  protected changed(): void {
    if (this.#isRenderDue) return;
    this.#isRenderDue = true;
    queueMicrotask(() => {
      this.#isRenderDue = false;
      if (this.isConnected) this.render();
    });
  }

  protected abstract render(): void;

  /** Returns false if a listener prevented the default. */
  protected send(type: string, detail: object, isCancelable = false): boolean {
    const options = { detail, bubbles: true, composed: true, cancelable: isCancelable };
    return this.dispatchEvent(new CustomEvent(type, options));
  }
}

type Kind = 'text' | 'number' | 'flag';

/** Properties of each class that a page may have set before the class was defined. */
const settable = new WeakMap<object, readonly string[]>();

/** Defines a property for each row, by its name, with its attribute and kind. */
export function reflect(
  { prototype }: { readonly prototype: object },
  rows: Readonly<Record<string, readonly [attribute: string, kind: Kind]>>,
  others: readonly string[] = [],
): void {
  settable.set(prototype, [...Object.keys(rows), ...others, 'texts']);
  for (const [name, [attribute, kind]] of Object.entries(rows)) {
    Object.defineProperty(prototype, name, {
      configurable: true,
      enumerable: true,
      get(this: Element) {
        const value = this.getAttribute(attribute);
        if (kind === 'flag') return value !== null;
        return kind === 'text' ? (value ?? '') : numberOf(value);
      },
      set(this: Element, value: unknown) {
        if (kind === 'flag') this.toggleAttribute(attribute, Boolean(value));
        else if (value === undefined || value === null) this.removeAttribute(attribute);
        else this.setAttribute(attribute, String(value));
      },
    });
  }
}

function numberOf(text: string | null): number | undefined {
  const value = Number(text || Number.NaN);
  return value >= 0 ? value : undefined;
}

/** Passes values that were set before the class was defined to the accessors. */
function upgradeProperties(element: HTMLElement): void {
  for (const name of settable.get(Object.getPrototypeOf(element)) ?? []) {
    if (!Object.hasOwn(element, name)) continue;
    const value: unknown = Reflect.get(element, name);
    Reflect.deleteProperty(element, name);
    Reflect.set(element, name, value);
  }
}
