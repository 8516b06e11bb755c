// A text that may be wider than its place. It takes the focus so that the keyboard can scroll it.

export function LongText({ text }: { text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it.
    <pre tabIndex={0} dir="auto">
      {text}
    </pre>
  );
}
