// Converts a reject of the inspection into the `err` that the method itself would return, for tests
// that only compare the sentences.

const mark = /with message: '([A-Z]\w+: [\s\S]*?)'/;

/** Returns the refusal of the inspection, or `undefined` for any other reject. */
export function refusedInWords(error: unknown): { err: string } | undefined {
  const [, words] = mark.exec((error as Error).message) ?? [];
  return words === undefined ? undefined : { err: words };
}

/** Returns an actor whose methods return refusals of the inspection as `err`. */
export function answeringInWords<T extends object>(actor: T): T {
  return new Proxy(actor, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return async (...values: unknown[]) => {
        try {
          return await member(...values);
        } catch (error) {
          const result = refusedInWords(error);
          if (result === undefined) throw error;
          return result;
        }
      };
    },
  });
}
