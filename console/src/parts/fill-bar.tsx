// A bar that shows the used share of a whole. The text beside it says the same.

interface FillBarProps {
  /** Share between 0 and 1; more counts as 1. */
  readonly share: number;
  /** Describes the bar for screen readers. */
  readonly label: string;
  readonly isLow?: boolean;
}

export function FillBar({ share, label, isLow = false }: FillBarProps) {
  // A small share must still be visible.
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
