// How fast bytes go, from the last seconds alone: what a pause or a slow start was is no forecast.

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
    /** Bytes a second; undefined while there is too little to tell. */
    speed(): number | undefined {
      const [first] = samples;
      const last = samples.at(-1);
      if (first === undefined || last === undefined || last.time - first.time < 500)
        return undefined;
      return ((last.bytes - first.bytes) * 1_000) / (last.time - first.time);
    },
  };
}
