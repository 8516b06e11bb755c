// Icons: strokes in the colour of the text, hidden from screen readers.

const paths = {
  folder:
    'M3 6.5A1.5 1.5 0 0 1 4.5 5h4l2 2.5h9A1.5 1.5 0 0 1 21 9v9a1.5 1.5 0 0 1-1.5 1.5h-15A1.5 1.5 0 0 1 3 18z',
  file: 'M6 3.5h7.5L18 8v12.5H6zM13.5 3.5V8H18',
  image: 'M4 5h16v14H4zM4 16l4.5-4.5 4 4 3-3L20 17M15 9.2v.1',
  video: 'M4 6h11v12H4zM15 10.5l5-3v9l-5-3',
  audio:
    'M9 17.5V6l9-2v11.5M9 17.5a2.5 2 0 1 1-5 0 2.5 2 0 0 1 5 0M18 15.5a2.5 2 0 1 1-5 0 2.5 2 0 0 1 5 0',
  bucket:
    'M4 7c0-1.4 3.6-2.5 8-2.5S20 5.6 20 7s-3.6 2.5-8 2.500S4 8.4 4 7l1.5 11c.2 1 3 2 6.5 2s6.3-1 6.5-2L20 7',
  more: 'M12 5.500v.1M12 12v.1M12 18.500v.1',
  upload: 'M12 15.500V5M7.5 9.500L12 5l4.5 4.500M4.5 15v4h15v-4',
  close: 'M6 6l12 12M18 6L6 18',
  newFolder: 'M3 6.5A1.5 1.5 0 0 1 4.5 5h4l2 2.5h10V19.5H3zM12 10.5v6M9 13.5h6',
  search: 'M15.500 15.500L20 20M17 10.500a6.500 6.500 0 1 1-13 0 6.500 6.500 0 0 1 13 0',
  warning: 'M12 4L21 19.500H3zM12 10v4.500M12 17v.1',
  bin: 'M5 7h14M9.500 7V4.500h5V7M7 7l1 12.500h8L17 7M10.500 10.500v5.500M13.500 10.500v5.500',
  check: 'M5 12.500l4.500 4.500L19 7.500',
  lock: 'M6 11h12v9H6zM8.500 11V8a3.500 3.500 0 0 1 7 0v3',
  pause: 'M9 6v12M15 6v12',
  play: 'M8 5.500v13l10-6.500z',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
