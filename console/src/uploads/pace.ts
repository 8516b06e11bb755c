// Measures the upload rate over the last seconds, so that pauses and slow starts do not count.

const windowMs = 6_000;

export function createPace() {
  let samples: { readonly time: number; readonly bytes: number }[] = [];
  return {
    note(bytes: number, time = performance.now()): void {
      samples = [...samples.filter((sample) => sample.time > time - windowMs), { time, bytes }];
    },
    forget(): void {
      samples = [];
    },
    /** Returns bytes per second; undefined while there are too few samples. */
    speed(): number | undefined {
      const [first] = samples;
      const last = samples.at(-1);
      if (first === undefined || last === undefined || last.time - first.time < 500)
        return undefined;
      return ((last.bytes - first.bytes) * 1_000) / (last.time - first.time);
    },
  };
}
