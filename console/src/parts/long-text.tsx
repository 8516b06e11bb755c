// A text that may be wider than its place: the keyboard scrolls it, so it takes the focus.

export function LongText({ text }: { text: string }) {
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard.
  return <pre tabIndex={0}>{text}</pre>;
}
