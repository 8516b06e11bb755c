// Cycles that a front sends to the volumes of its service.

/** When a front tops up its volumes, in cycles that a canister can spend before it freezes. */
export interface TopUpLimits {
  /** A volume with fewer cycles is topped up, at most once an hour. */
  readonly volumeMinimum: number;
  /** The cycles of a volume after a top-up. */
  readonly volumeTarget: number;
  /** The maximum for all volumes together within 24 hours; 0 ends these top-ups. */
  readonly daily: number;
  /** The maximum for each volume within 24 hours. */
  readonly dailyPerVolume: number;
  /** The front keeps this many cycles. */
  readonly frontMinimum: number;
}

/** A change of limits. A limit that is not given stays. */
export type TopUpChange = {
  readonly [Name in keyof TopUpLimits]?: TopUpLimits[Name] | undefined;
};

export interface TopUp {
  readonly at: string;
  readonly volume: string;
  readonly cycles: number;
  /** `limits`, or `request` of a controller, which does not count for the limits. */
  readonly cause: string;
}

/** The cycles of a volume as its front knows them. */
export interface VolumeCycles {
  readonly volume: string;
  /** Absent until the volume has reported them. */
  readonly cycles?: number | undefined;
  /** Time of the volume's last report. */
  readonly reportedAt?: string | undefined;
}

export interface TopUpStatus {
  /** Absent until a controller sets them; then volumes are topped up only on request. */
  readonly limits?: TopUpLimits | undefined;
  /** Cycles that the front can spend. */
  readonly frontCycles: number;
  readonly volumes: readonly VolumeCycles[];
  /** The last 100 top-ups, the newest first. */
  readonly last: readonly TopUp[];
}
