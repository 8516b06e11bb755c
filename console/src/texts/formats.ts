// Numbers in the texts of a language. The languages import nothing else of the page.

/** Returns a format of whole numbers: `1,200` in English. */
export function numberIn(language: string): (value: number) => string {
  const format = new Intl.NumberFormat(language);
  return (value) => format.format(value);
}
