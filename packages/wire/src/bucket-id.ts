// The rule for bucket ids, and the sentence that refuses other ids. Both the service and clients
// apply it; clients do so before an id becomes part of a URL.

// No hyphen at either end, so that no id looks like a command-line option.
const pattern = /[A-Za-z0-9]+(?:-+[A-Za-z0-9]+)*$/y;
const lengthMax = 64;

export function isBucketId(text: string): boolean {
  // Sticky, because QuickJS tries any other pattern again at each character of a text that fails.
  pattern.lastIndex = 0;
  return text.length <= lengthMax && pattern.test(text);
}

/** `shown`: the id in quotes, without text that messages must not contain. */
export function bucketIdRefusal(shown: string): string {
  return (
    `The bucket id ${shown} is not valid: write 1 to ${lengthMax} letters (A-Z, a-z), ` +
    'digits and hyphens, with no hyphen first or last.'
  );
}
