// A text that may be wider than its place. It takes the focus so that the keyboard can scroll it.

export function LongText({ text }: { text: string }) {
  // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it.
  return <pre tabIndex={0}>{text}</pre>;
}
