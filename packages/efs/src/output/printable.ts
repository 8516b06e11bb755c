// Makes texts safe to print: a terminal must only show them. All output passes through here.

/** Control characters, and format characters such as those that change a text's direction. */
const acting = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Escapes texts of others, such as names and messages, so that terminals do not act on them. */
export function printable(text: string): string {
  return text.replace(acting, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
}

/** Keeps this program's own line breaks, and escapes everything else that a terminal acts on. */
export function printableLines(text: string): string {
  return text.replace(/[^\n\t]+/g, printable);
}

/** Hides keys and secrets of addresses of links, which errors quote as names of something. */
export function withoutKeys(text: string): string {
  return text.replace(/#(?:link|key|owner)=[^\s"'`]*/g, '#…');
}

/** Returns equivalent JSON that a terminal does not act on. */
export function printableJson(json: string): string {
  return json.replace(/[^\n]+/g, (line) =>
    line.replace(acting, (character) => {
      const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
      return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
    }),
  );
}
