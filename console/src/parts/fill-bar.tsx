// A chart of one line: how much of a whole there is. The text beside it says the same.

interface BarProps {
  /** Of 1; what is more is all of it. */
  readonly share: number;
  /** What is to be seen, for whoever does not see it. */
  readonly label: string;
  readonly isLow?: boolean;
}

export function Bar({ share, label, isLow = false }: BarProps) {
  // What is there at all is to be seen.
  const width = share > 0 ? Math.min(100, Math.max(0.7, share * 100)) : 0;
  return (
    <svg
      class={isLow ? 'bar low' : 'bar'}
      viewBox="0 0 100 1"
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <rect width={width} height="1" />
    </svg>
  );
}
