// Figures that two views show: the daily cost, the time for which the cycles last, the encryption.

import type { ServiceStatus } from '../../packages/client/src/types/service.ts';
import { language, texts } from './language.ts';

/** Cycles per GiB and second on a subnet of 13 nodes. */
const storageCyclesPerGibSecond = 127_000;
const daySeconds = 86_400;
export const yearDays = 365;
/** Default freezing threshold: the canister freezes when its cycles would last for fewer days. */
export const freezingDays = 30;
/** Below so many days until it freezes, somebody must add cycles. */
const daysMin = 60;
/** Cycles above the freezing reserve without which the canister cannot be upgraded. */
const upgradeCycles = 310_000_000_000;
/** The same for uploads. */
const uploadCycles = 100_000_000_000;

/** Returns the daily cost of the canister's memory; uploads cost extra. */
export function cyclesPerDay({
  stableBytes,
  heapBytes,
}: Pick<ServiceStatus, 'stableBytes' | 'heapBytes'>): number {
  return ((stableBytes + heapBytes) / 2 ** 30) * storageCyclesPerGibSecond * daySeconds;
}

export interface CyclesLeft {
  readonly cycles: number;
  /** Days until the canister freezes, without uploads and with the default freezing threshold. */
  readonly days: number;
  readonly reserve: number;
  readonly acceptsUploads: boolean;
  /** Somebody must add cycles. */
  readonly isLow: boolean;
}

/** Returns undefined if the service does not report its cycles, or if it needs none. */
export function cyclesLeft(status: ServiceStatus): CyclesLeft | undefined {
  const { cycles } = status;
  if (cycles === undefined || status.chargesCycles === false) return undefined;
  const perDay = cyclesPerDay(status);
  const reserve = perDay * freezingDays;
  const days = Math.max(0, Math.floor(cycles / perDay) - freezingDays);
  const liquid = cycles - reserve;
  const isLow = days < daysMin || liquid < upgradeCycles;
  return { cycles, days, reserve, acceptsUploads: liquid >= uploadCycles, isLow };
}

export function daysWords(days: number): string {
  const { words } = texts();
  return days > 10 * yearDays ? words.moreThanTenYears : words.days(days);
}

/** Returns `2.5 T`: trillions of cycles. */
export function cyclesWords(cycles: number): string {
  const trillions = cycles / 1e12;
  return `${trillions.toLocaleString(language(), { maximumSignificantDigits: 3 })} T`;
}

export function encryptionWords({
  isKeyPresent,
  isRotating,
  rootKey,
}: ServiceStatus['encryption']): string {
  const { state } = texts();
  if (!isKeyPresent) return state.keyFetched;
  if (isRotating) return state.rotating;
  return rootKey === 'stored' ? state.keyStored : state.keyDerived;
}
