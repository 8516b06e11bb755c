// How a file may be shown, by its media type. No type here runs scripts: pages, SVG and PDF get a
// card with a link, and the service sandboxes them when they are opened.

export type FileKind = 'picture' | 'video' | 'audio' | 'text' | 'other';

const pictures = /^image\/(?:png|apng|jpeg|gif|webp|avif|bmp)$/;
const texts = /^(?:text\/(?:plain|csv|markdown)|application\/json)$/;

export function kindOf(contentType: string): FileKind {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (pictures.test(type)) return 'picture';
  if (texts.test(type)) return 'text';
  const [, media] = /^(video|audio)\/[\w.+-]+$/.exec(type) ?? [];
  return media === 'video' || media === 'audio' ? media : 'other';
}

/** Returns the last part of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/', path.length - 2) + 1);
}

/** Returns the extension in capitals, in place of a picture. */
export function signOf(name: string): string {
  return /\.(\w{1,5})$/.exec(name)?.[1]?.toUpperCase() ?? '•';
}
