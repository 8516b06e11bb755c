// A message with elements, such as links, in the places of its values.

import type { ComponentChildren } from 'preact';

/** Characters for private use stand for the values while the message is made. */
const firstMark = 0xe000;

export function filled(
  message: (...values: string[]) => string,
  values: readonly ComponentChildren[],
): ComponentChildren[] {
  const marks = values.map((_, index) => String.fromCharCode(firstMark + index));
  const parts = message(...marks).split(/([\ue000-\ue0ff])/);
  return parts.map((part) => (marks.includes(part) ? values[marks.indexOf(part)] : part));
}
