// The rule for bucket ids, and the one sentence that refuses an id that breaks it. Both ends of the
// interface apply it: the service, and clients before an id becomes a part of a URL.

// A hyphen at neither end, so that no id looks like an option on a command line.
const pattern = /[A-Za-z0-9]+(?:-+[A-Za-z0-9]+)*$/y;
const lengthMax = 64;

export function isBucketId(text: string): boolean {
  // Sticky, because QuickJS tries any other pattern again at each character of a text that fails.
  pattern.lastIndex = 0;
  return text.length <= lengthMax && pattern.test(text);
}

/** `shown` is the id in quotes, without whatever the caller's messages must not show. */
export function bucketIdRefusal(shown: string): string {
  return (
    `The bucket id ${shown} is not valid: write 1 to ${lengthMax} letters (A-Z, a-z), ` +
    'digits and hyphens, with no hyphen first or last.'
  );
}
