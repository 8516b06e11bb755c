// Faults of a view's layout that a program can find.

import type { Page } from 'playwright-core';

/** WCAG 2.2, success criterion 2.5.8 */
const targetPixelsMin = 24;
/** Two lines of a label on a phone */
const targetPixelsMax = 80;

/**
 * Returns what is wider than the screen, controls that are too small, cut, or on top of each other,
 * and a heading that is not below the top bar.
 */
export function layoutFaults(page: Page): Promise<string[]> {
  return page.evaluate(
    ({ pixelsMin, pixelsMax }) => {
      const found: string[] = [];
      const nameOf = (element: Element) => {
        const text = element.getAttribute('aria-label') ?? element.textContent ?? '';
        return `${element.localName} “${text.trim().slice(0, 40)}”`;
      };
      const { scrollWidth } = document.documentElement;
      if (scrollWidth > innerWidth) found.push(`the page is ${scrollWidth} pixels wide`);
      // Under an open dialog nothing can be used.
      const root = document.querySelector('dialog[open]') ?? document.body;
      const controls = [
        ...root.querySelectorAll<HTMLElement>('button, a.button, select, input[type=search]'),
      ].filter((element) =>
        element.checkVisibility({ visibilityProperty: true, opacityProperty: true }),
      );
      const boxes = controls.map((element) => element.getBoundingClientRect());
      for (const [index, element] of controls.entries()) {
        const box = boxes[index] as DOMRect;
        // A label for keyboards only stands outside the screen until it has the focus.
        if (box.bottom < 0) continue;
        if (box.right > innerWidth + 1 || box.left < -1)
          found.push(`${nameOf(element)} leaves the screen`);
        if (box.height < pixelsMin || box.width < pixelsMin)
          found.push(`${nameOf(element)} is small`);
        if (box.height > pixelsMax) found.push(`${nameOf(element)} is ${box.height} pixels high`);
        // The text of a field scrolls.
        const isField = element.localName === 'input';
        if (!isField && element.scrollWidth > element.clientWidth + 1)
          found.push(`${nameOf(element)} is cut`);
        for (const [other, second] of controls.slice(index + 1).entries()) {
          const place = boxes[index + 1 + other] as DOMRect;
          if (element.parentElement !== second.parentElement) continue;
          const width = Math.min(box.right, place.right) - Math.max(box.left, place.left);
          const height = Math.min(box.bottom, place.bottom) - Math.max(box.top, place.top);
          if (width > 1 && height > 1) found.push(`${nameOf(element)} covers ${nameOf(second)}`);
        }
      }
      for (const row of root.querySelectorAll('[role=row]')) {
        const { top, bottom } = row.getBoundingClientRect();
        for (const inner of row.querySelectorAll('a, a > *, [role=gridcell]')) {
          const box = inner.getBoundingClientRect();
          if (box.height > 0 && (box.top < top - 1 || box.bottom > bottom + 1))
            found.push(`${nameOf(inner)} leaves its row`);
        }
      }
      const bar = document.querySelector('header')?.getBoundingClientRect();
      const heading = document.querySelector<Element>('main h1');
      let isScrolled = false;
      for (let at = heading; at !== null; at = at.parentElement) isScrolled ||= at.scrollTop > 0;
      if (bar && heading && !isScrolled && heading.getBoundingClientRect().top < bar.bottom) {
        found.push('the heading is not below the top bar');
      }
      return found;
    },
    { pixelsMin: targetPixelsMin, pixelsMax: targetPixelsMax },
  );
}

/**
 * Returns the controls, headings and bars that do not change sides with the direction of the page, at the
 * present size of the window.
 */
export function mirrorFaults(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const { documentElement } = document;
    const root = document.querySelector('dialog[open]') ?? document.body;
    const elements = [
      ...root.querySelectorAll('button, a.button, a.home, select, input, h1, h2, .bar rect'),
    ].filter((element) => element.checkVisibility({ visibilityProperty: true }));
    const boxesIn = (direction: string) => {
      documentElement.dir = direction;
      return elements.map((element) => element.getBoundingClientRect());
    };
    const { dir } = documentElement;
    const before = boxesIn('ltr');
    const after = boxesIn('rtl');
    documentElement.dir = dir;
    return elements.flatMap((element, index) => {
      const wanted = innerWidth - (before[index]?.right ?? 0);
      const found = after[index]?.left ?? 0;
      if (Math.abs(wanted - found) <= 2) return [];
      const text = element.getAttribute('aria-label') ?? element.textContent ?? '';
      return [`${element.localName} “${text.slice(0, 40)}” is at ${found}, not ${wanted}`];
    });
  });
}
