// A list that renders only the visible rows, so that ten thousand rows cost as much as thirty. All
// rows have the same height.

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

interface WindowListProps {
  readonly count: number;
  readonly rowHeight: number;
  /** Index of the active row, which is scrolled into view when the index changes. */
  readonly active: number;
  /** A change scrolls the active row into view again. */
  readonly reveal?: unknown;
  /** Called when the last rows are near. */
  onNearEnd(): void;
  row(index: number): ComponentChildren;
}

/** Rows rendered beyond each edge, so that fast scrolling shows no gap. */
const rowsBeyond = 12;
const nearEndRows = 200;

export function WindowList(props: WindowListProps) {
  const { count, rowHeight, active, reveal, onNearEnd, row } = props;
  const view = useRef<HTMLDivElement>(null);
  const first = useSignal(0);
  const visible = useSignal(30);
  function measure(): void {
    const element = view.current;
    if (element === null) return;
    const top = Math.floor(element.scrollTop / rowHeight);
    // Moves in steps, so that most scroll events render nothing.
    first.value = Math.max(0, top - (top % rowsBeyond) - rowsBeyond);
    visible.value = Math.ceil(element.clientHeight / rowHeight) + 3 * rowsBeyond;
  }
  useLayoutEffect(() => {
    measure();
    if (view.current === null) return undefined;
    const observer = new ResizeObserver(measure);
    observer.observe(view.current);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    const element = view.current;
    if (element === null || count === 0) return;
    const top = active * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    const bottom = top + rowHeight - element.clientHeight;
    if (bottom > element.scrollTop) element.scrollTop = bottom;
  }, [active, reveal]);
  const end = Math.min(count, first.value + visible.value);
  useEffect(() => {
    if (end > count - nearEndRows) onNearEnd();
  }, [end, count]);
  const indexes = Array.from(
    { length: Math.max(0, end - first.value) },
    (_, at) => first.value + at,
  );
  return (
    <div class="window" role="rowgroup" ref={view} onScroll={measure}>
      <div class="window-space" role="presentation" style={{ height: `${count * rowHeight}px` }}>
        <div role="presentation" style={{ transform: `translateY(${first.value * rowHeight}px)` }}>
          {indexes.map(row)}
        </div>
      </div>
    </div>
  );
}
