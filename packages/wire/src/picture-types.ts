// Types of thumbnails by their first bytes. The service checks them; in end-to-end buckets, whose
// thumbnails it cannot read, clients do.

/** Bytes that show the type. */
export const pictureStartBytes = 12;

interface Format {
  readonly type: string;
  /** Bytes of the format, one a character, each text at its offset. */
  readonly magic: readonly (readonly [offset: number, text: string])[];
}

/** Only formats in which no browser runs a script. */
const formats: readonly Format[] = [
  {
    type: 'image/webp',
    magic: [
      [0, 'RIFF'],
      [8, 'WEBP'],
    ],
  },
  { type: 'image/jpeg', magic: [[0, '\xff\xd8\xff']] },
  { type: 'image/png', magic: [[0, '\x89PNG\r\n\x1a\n']] },
  { type: 'image/avif', magic: [[4, 'ftypavif']] },
];

/** Returns the type of a picture that begins with these bytes, one a character. */
export function pictureTypeOf(start: string): string | undefined {
  const found = formats.find(({ magic }) =>
    magic.every(([offset, text]) => start.startsWith(text, offset)),
  );
  return found?.type;
}
